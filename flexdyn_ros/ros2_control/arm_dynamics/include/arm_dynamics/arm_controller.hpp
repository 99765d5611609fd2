// SPDX-License-Identifier: Apache-2.0
// Feed-forward torque with joint PD, limits and the stale policy; free of ROS.
#ifndef ARM_DYNAMICS__ARM_CONTROLLER_HPP_
#define ARM_DYNAMICS__ARM_CONTROLLER_HPP_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "arm_dynamics/active_damping.hpp"
#include "arm_dynamics/feed_forward.hpp"
#include "arm_dynamics/torque_shaping.hpp"

namespace arm_dynamics
{

enum class StalePolicy {kAuto, kGravity, kZero, kHold};

/// Result of a cycle: followed the reference, held the position, acted on a fault, or nothing.
enum class Cycle {kTracking, kHolding, kStale, kSilent};

inline JointVector filled(double value) noexcept
{
  JointVector values{};
  values.fill(value);
  return values;
}

/// Everything that may change while the controller works; plain numbers.
struct ControllerSettings
{
  FeedForwardSettings feed_forward;
  ShapingSettings shaping;
  std::array<double, 3> gravity = kDeclaredGravity;
  std::array<double, 10> payload = kDeclaredPayload;
  JointVector kp{};  ///< [N m/rad | N/m]
  JointVector kd{};  ///< [N m s/rad | N s/m]
  JointVector pd_limit = filled(std::numeric_limits<double>::infinity());      ///< [N m | N]
  JointVector effort_limit = filled(std::numeric_limits<double>::infinity());  ///< [N m | N]
  bool damping = false;                        ///< of the first modes
  DampingTorque damping_limit = kDampingLimit;  ///< [N m | N]
  StalePolicy stale_policy = StalePolicy::kAuto;
  double timeout = 0.1;             ///< age from which a state is stale [s]
  double stale_gravity_time = 2.0;  ///< [s]
  double stale_ramp_time = 2.0;     ///< [s]
  double velocity_factor = 10.0;    ///< multiple of a velocity limit that is plausible [1]
  double velocity = 100.0;          ///< plausible without a velocity limit [rad/s | m/s]
  double acceleration = 1e5;        ///< plausible of a reference [rad/s^2 | m/s^2]
  int patience = 5;                 ///< implausible states in a row that are ignored [1]
};

/// Measured joints, and the readings of other sensors of the active damping.
struct MeasuredState
{
  JointVector q{};
  JointVector qd{};
  Readings readings{};
};

/// Desired joints; NaN without a desired value.
struct Reference
{
  JointVector q = filled(std::numeric_limits<double>::quiet_NaN());
  JointVector qd = q;
  JointVector qdd = q;
  JointVector effort = q;
};

/// The controller's cycle, without allocation, locks or exceptions.
class ArmController
{
public:
  /// Start anew, as at activation.
  void begin() noexcept
  {
    shaping_.begin();
    episode_.end();
    feed_forward_.reset();
    damping_.stop();
    whole_ = tracking_ = holding_ = false;
    implausible_ = 0;
  }

  /// Take over settings; a step of the torque that gravity, payload or terms make is spread.
  void set(const ControllerSettings & settings) noexcept
  {
    const FeedForwardSettings & now = settings.feed_forward, & last = settings_.feed_forward;
    if (settings.gravity != settings_.gravity || settings.payload != settings_.payload ||
      now.model != last.model || now.gravity_compensated != last.gravity_compensated ||
      now.friction_compensated != last.friction_compensated || now.link_side != last.link_side ||
      settings.kp != settings_.kp || settings.kd != settings_.kd)
    {
      shaping_.change();
    }
    settings_ = settings;
    feed_forward_.arm.gravity = settings.gravity;
    feed_forward_.arm.payload = settings.payload;
  }

  /**
   * Compute one cycle.
   * \param now Steady time [s].
   * \param measured State, or null where this cycle has none: the last one then ages.
   * \param reference Desired motion.
   * \param torque Written unless the result is kSilent.
   */
  Cycle update(
    double now, const MeasuredState * measured, const Reference & reference,
    JointVector & torque) noexcept
  {
    if (!take(now, measured)) {return stop(now, torque);}
    if (!whole_) {return Cycle::kSilent;}
    const bool tracking = desired(reference);
    if (tracking != tracking_ || (!tracking && !holding_)) {
      tracking_ = tracking;
      holding_ = !tracking;
      feed_forward_.reset();
      damping_.stop();
      target_ = JointMotion{};
      target_.q = state_.q;
      shaping_.change();
    }
    if (tracking) {
      target_.q = reference.q;
      for (std::size_t k = 0; k < kJoints; ++k) {
        target_.qd[k] = or_zero(reference.qd[k]);
        target_.qdd[k] = or_zero(reference.qdd[k]);
      }
    }
    if (!feed_forward(now, torque)) {return stop(now, torque);}
    for (std::size_t k = 0; k < kJoints; ++k) {
      const double pd = settings_.kp[k] * (target_.q[k] - state_.q[k]) +
        settings_.kd[k] * (target_.qd[k] - state_.qd[k]);
      torque[k] += std::min(std::max(pd, -settings_.pd_limit[k]), settings_.pd_limit[k]);
      if (tracking) {torque[k] += or_zero(reference.effort[k]);}
    }
    if (!is_finite(torque)) {return stop(now, torque);}
    shaping_.shape(settings_.shaping, now, torque);
    send(now, torque);
    damp(now, measured, torque);
    episode_.end();
    return tracking ? Cycle::kTracking : Cycle::kHolding;
  }

  /// Whether the last torque contains active damping.
  bool damps() const noexcept {return damping_.on();}

  /// Whether the last torque was saturated.
  bool saturated() const noexcept {return saturated_;}

private:
  static double or_zero(double value) noexcept {return std::isfinite(value) ? value : 0.0;}

  /// Take a measured state; return false where the stale policy is to act.
  bool take(double now, const MeasuredState * measured) noexcept
  {
    if (measured != nullptr) {
      if (!is_finite(measured->q) || !is_finite(measured->qd)) {
        seen_at_ = -std::numeric_limits<double>::infinity();
        return false;
      }
      if (plausible(*measured)) {
        implausible_ = 0;
        state_ = *measured;
        seen_at_ = now;
        whole_ = true;
        return true;
      }
      if (++implausible_ > settings_.patience) {return false;}
    }
    return !whole_ || now - seen_at_ <= settings_.timeout;
  }

  bool plausible(const MeasuredState & state) const noexcept
  {
    for (std::size_t k = 0; k < kJoints; ++k) {
      const JointLimits & limit = kJointLimits[k];
      double lower = -kLargestPosition, upper = kLargestPosition;
      if (limit.lower < limit.upper && std::isfinite(limit.lower) && std::isfinite(limit.upper)) {
        const double margin = std::max(limit.upper - limit.lower, kSmallestMargin);
        lower = limit.lower - margin;
        upper = limit.upper + margin;
      }
      if (!(state.q[k] >= lower && state.q[k] <= upper)) {return false;}
      if (!(std::fabs(state.qd[k]) <= fastest(k))) {return false;}
    }
    return true;
  }

  double fastest(std::size_t joint) const noexcept
  {
    const double limit = kJointLimits[joint].velocity;
    const bool limited = std::isfinite(limit) && limit > 0.0 && settings_.velocity_factor > 0.0;
    return limited ? settings_.velocity_factor * limit : settings_.velocity;
  }

  /// Return whether a reference states all positions, and nothing implausible.
  bool desired(const Reference & reference) const noexcept
  {
    if (!plausible(MeasuredState{reference.q, JointVector{}, Readings{}})) {return false;}
    for (std::size_t k = 0; k < kJoints; ++k) {
      if (std::fabs(or_zero(reference.qd[k])) > fastest(k)) {return false;}
      if (std::fabs(or_zero(reference.qdd[k])) > settings_.acceleration) {return false;}
    }
    return true;
  }

  bool feed_forward(double now, JointVector & torque) noexcept
  {
    if (tracking_) {
      return feed_forward_.torque(settings_.feed_forward, now, target_, torque);
    }
    torque = JointVector{};
    if (contains_gravity()) {feed_forward_.gravity(state_.q, torque);}
    return true;
  }

  bool contains_gravity() const noexcept
  {
    return settings_.feed_forward.model != TorqueModel::kNone &&
           settings_.feed_forward.gravity_compensated;
  }

  /// Add active damping where it is on, the state is of this cycle, and the arm is in its range.
  void damp(double now, const MeasuredState * measured, JointVector & torque) noexcept
  {
    bool active = settings_.damping && kDampingOrder > 0 && measured != nullptr &&
      implausible_ == 0;
    for (std::size_t k = 0; k < kJoints; ++k) {
      active = active && std::fabs(state_.q[k] - kDampingCentre[k]) <= kDampingReach;
    }
    if (!active) {
      damping_.stop();
      return;
    }
    Readings y = state_.readings;
    for (std::size_t k = 0; k < kReadings; ++k) {
      const std::size_t joint = kReadJoint[k];
      if (joint < kJoints) {y[k] = state_.q[joint] - target_.q[joint];}
    }
    damping_.add(
      now, settings_.shaping.change_ramp_time, y, settings_.damping_limit, settings_.effort_limit,
      torque);
  }

  /// Follow the stale policy, once a torque has been commanded since activation.
  Cycle stop(double now, JointVector & torque) noexcept
  {
    feed_forward_.reset();
    damping_.stop();
    holding_ = tracking_ = false;
    if (!shaping_.commanded_any()) {return Cycle::kSilent;}
    shaping_.interrupt();
    if (!episode_.on()) {held_ = shaping_.commanded();}
    const double weight =
      episode_.weight(settings_.stale_gravity_time, settings_.stale_ramp_time, now);
    StalePolicy policy = settings_.stale_policy;
    if (policy == StalePolicy::kAuto) {
      policy = contains_gravity() ? StalePolicy::kGravity : StalePolicy::kZero;
    }
    if (policy == StalePolicy::kHold) {
      torque = shaping_.commanded();
      return Cycle::kStale;
    }
    torque = JointVector{};
    if (policy == StalePolicy::kGravity) {
      feed_forward_.gravity(state_.q, torque);
      if (!is_finite(torque)) {torque = held_;}
      for (double & each : torque) {each *= weight;}
    }
    send(now, torque);
    return Cycle::kStale;
  }

  void send(double now, JointVector & torque) noexcept
  {
    saturated_ = false;
    for (std::size_t k = 0; k < kJoints; ++k) {
      const double limit = settings_.effort_limit[k];
      saturated_ = saturated_ || std::fabs(torque[k]) > limit;
      torque[k] = std::min(std::max(torque[k], -limit), limit);
    }
    shaping_.note(torque, now);
  }

  static constexpr double kSmallestMargin = 1.0;    // of positions beyond limits [rad | m]
  static constexpr double kLargestPosition = 1e4;   // without limits [rad | m]

  ControllerSettings settings_;
  FeedForward feed_forward_;
  TorqueShaping shaping_;
  StaleEpisode episode_;
  ActiveDamping damping_;
  MeasuredState state_;
  JointMotion target_;
  JointVector held_{};
  double seen_at_ = 0.0;
  int implausible_ = 0;
  bool whole_ = false, tracking_ = false, holding_ = false, saturated_ = false;
};

}  // namespace arm_dynamics

#endif  // ARM_DYNAMICS__ARM_CONTROLLER_HPP_
