// SPDX-License-Identifier: Apache-2.0
// How a commanded torque changes: soft start, rate limit, ramps, and the stale policy.
#ifndef ARM_DYNAMICS__TORQUE_SHAPING_HPP_
#define ARM_DYNAMICS__TORQUE_SHAPING_HPP_

#include <algorithm>
#include <cstddef>

#include "arm_dynamics/arm_model.hpp"

namespace arm_dynamics
{

struct ShapingSettings
{
  double soft_start_time = 0.0;   ///< over which torques grow from zero [s]; 0: none
  double rate_limit = 0.0;        ///< largest change of a torque [N m/s | N/s]; 0: none
  double change_ramp_time = 0.5;  ///< over which a change's step is spread [s]
};

/// Shapes computed torques; what stops the arm does not pass here.
class TorqueShaping
{
public:
  /// Forget everything, as at activation.
  void begin() noexcept {*this = TorqueShaping{};}

  /// Note that the next torque comes from a changed model or target.
  void change() noexcept {changed_ = true;}

  /// Turn a computed torque into the one to command at a steady time [s], before saturation.
  void shape(const ShapingSettings & settings, double now, JointVector & torque) noexcept
  {
    if (!began_) {
      began_ = true;
      began_at_ = now;
    }
    spread_change(settings, now, torque);
    const double since_start = now - began_at_;
    if (since_start < settings.soft_start_time) {
      for (double & each : torque) {each *= since_start / settings.soft_start_time;}
    }
    if (settings.rate_limit > 0.0) {
      const double step = commanded_any_ ? settings.rate_limit * (now - commanded_at_) : 0.0;
      for (std::size_t k = 0; k < kJoints; ++k) {
        torque[k] = std::min(std::max(torque[k], commanded_[k] - step), commanded_[k] + step);
      }
    }
  }

  /// Note what has been commanded, shaped or not.
  void note(const JointVector & torque, double now) noexcept
  {
    commanded_any_ = true;
    commanded_ = torque;
    commanded_at_ = now;
  }

  bool commanded_any() const noexcept {return commanded_any_;}
  const JointVector & commanded() const noexcept {return commanded_;}

private:
  void spread_change(const ShapingSettings & settings, double now, JointVector & torque) noexcept
  {
    if (changed_ && computed_any_ && settings.change_ramp_time > 0.0) {
      // What is left of an earlier ramp is part of what is commanded now.
      for (std::size_t k = 0; k < kJoints; ++k) {offset_[k] = computed_[k] - torque[k];}
      ramp_ = true;
      ramp_at_ = now;
    }
    changed_ = false;
    if (ramp_) {
      const double left = 1.0 - (now - ramp_at_) / settings.change_ramp_time;
      ramp_ = left > 0.0;
      for (std::size_t k = 0; ramp_ && k < kJoints; ++k) {torque[k] += left * offset_[k];}
    }
    computed_ = torque;
    computed_any_ = true;
  }

  bool began_ = false, changed_ = false, ramp_ = false, computed_any_ = false;
  bool commanded_any_ = false;
  double began_at_ = 0.0, ramp_at_ = 0.0, commanded_at_ = 0.0;
  JointVector computed_{}, offset_{}, commanded_{};
};

/// The time since no torque can be computed.
class StaleEpisode
{
public:
  bool on() const noexcept {return on_;}
  void end() noexcept {on_ = false;}

  /// Return the factor on gravity, 1 at first and 0 at the end; the first call begins.
  double weight(double gravity_time, double ramp_time, double now) noexcept
  {
    if (!on_) {
      on_ = true;
      began_at_ = now;
    }
    const double over = now - began_at_ - gravity_time;
    if (over <= 0.0) {return 1.0;}
    return ramp_time > 0.0 ? std::max(0.0, 1.0 - over / ramp_time) : 0.0;
  }

private:
  bool on_ = false;
  double began_at_ = 0.0;
};

}  // namespace arm_dynamics

#endif  // ARM_DYNAMICS__TORQUE_SHAPING_HPP_
