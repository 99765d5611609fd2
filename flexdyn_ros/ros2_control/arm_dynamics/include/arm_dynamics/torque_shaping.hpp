// SPDX-License-Identifier: Apache-2.0
// Bounds on changes of a commanded torque: soft start, rate limit, ramps, and the stale policy.
#ifndef ARM_DYNAMICS__TORQUE_SHAPING_HPP_
#define ARM_DYNAMICS__TORQUE_SHAPING_HPP_

#include <algorithm>
#include <cstddef>

#include "arm_dynamics/arm_model.hpp"

namespace arm_dynamics
{

struct ShapingSettings
{
  double soft_start_time = 0.0;   ///< from the last torque, zero at first, on [s]; 0: none
  double rate_limit = 0.0;        ///< largest change of a torque [N m/s | N/s]; 0: none
  double change_ramp_time = 0.5;  ///< over which a change's step is spread [s]
};

/// Shapes computed torques; torques that stop the arm do not pass here. A soft start or a ramp
/// that has begun keeps its time.
class TorqueShaping
{
public:
  /// Discard the whole state, as at activation.
  void begin() noexcept {*this = TorqueShaping{};}

  /// Note that no torque is computed; the next one starts softly from the commanded one.
  void interrupt() noexcept {began_ = soft_ = ramp_ = false;}

  /// Note that the next torque comes from a changed model or target.
  void change() noexcept {changed_ = true;}

  /// Turn a computed torque into the one to command at a steady time [s], before saturation.
  void shape(const ShapingSettings & settings, double now, JointVector & torque) noexcept
  {
    if (!began_) {
      began_ = true;
      commanded_at_ = began_at_ = now;
      start_ = computed_ = commanded_;
      computed_any_ = commanded_any_;
      soft_time_ = settings.soft_start_time;
      soft_ = soft_time_ > 0.0;
    }
    spread_change(settings, now, torque);
    soft_ = soft_ && now - began_at_ < soft_time_;
    for (std::size_t k = 0; soft_ && k < kJoints; ++k) {
      torque[k] = start_[k] + (now - began_at_) / soft_time_ * (torque[k] - start_[k]);
    }
    if (settings.rate_limit > 0.0) {
      const double step = settings.rate_limit * (now - commanded_at_);
      for (std::size_t k = 0; k < kJoints; ++k) {
        torque[k] = std::min(std::max(torque[k], commanded_[k] - step), commanded_[k] + step);
      }
    }
  }

  /// Note the commanded torque, shaped or not.
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
      // The rest of an earlier ramp is part of the torque that is commanded now.
      for (std::size_t k = 0; k < kJoints; ++k) {offset_[k] = computed_[k] - torque[k];}
      ramp_ = true;
      ramp_at_ = now;
      ramp_time_ = settings.change_ramp_time;
    }
    changed_ = false;
    if (ramp_) {
      const double left = 1.0 - (now - ramp_at_) / ramp_time_;
      ramp_ = left > 0.0;
      for (std::size_t k = 0; ramp_ && k < kJoints; ++k) {torque[k] += left * offset_[k];}
    }
    computed_ = torque;
    computed_any_ = true;
  }

  bool began_ = false, changed_ = false, soft_ = false, ramp_ = false, computed_any_ = false;
  bool commanded_any_ = false;
  double began_at_ = 0.0, soft_time_ = 0.0, ramp_at_ = 0.0, ramp_time_ = 0.0;
  double commanded_at_ = 0.0;
  JointVector start_{}, computed_{}, offset_{}, commanded_{};
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
