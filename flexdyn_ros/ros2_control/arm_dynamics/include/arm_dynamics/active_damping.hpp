// SPDX-License-Identifier: Apache-2.0
// Active damping of the first modes, by torques that are added to those of the controller.
#ifndef ARM_DYNAMICS__ACTIVE_DAMPING_HPP_
#define ARM_DYNAMICS__ACTIVE_DAMPING_HPP_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "arm_dynamics/arm_model.hpp"

namespace arm_dynamics
{

// The design of flexdyn_ros. An order of zero: the package has none.
constexpr std::size_t kDampedJoints = @damped_joints;
constexpr std::size_t kReadings = @damping_readings;
constexpr std::size_t kDampingOrder = @damping_order;
constexpr std::array<std::size_t, kDampedJoints> kDampedJoint{{@damped_joint}};
/// Joint whose position is read, less the desired one; kJoints: the reading of a sensor.
constexpr std::array<std::size_t, kReadings> kReadJoint{{@read_joint}};
constexpr std::array<const char *, kReadings> kReadingNames{{@reading_names}};
constexpr JointVector kDampingCentre{{@damping_centre}};  // of the joint positions [rad | m]
constexpr double kDampingReach = @damping_reach;          // of each joint about these [rad | m]
constexpr double kDampingPeriod = @damping_period;        // [s]
constexpr bool kJointLoopInDrives = @joint_loop_in_drives;
constexpr JointVector kJointLoopKp{{@joint_loop_kp}};     // [N m/rad | N/m]
constexpr JointVector kJointLoopKd{{@joint_loop_kd}};     // [N m s/rad | N s/m]
constexpr std::array<double, kDampedJoints> kDampingLimit{{@damping_limit}};  // [N m | N]
// By rows: x+ = a x + b y + g (v - u), u = c x + d y, where v acts in place of u.
constexpr std::array<double, kDampingOrder * kDampingOrder> kDampingA{{@damping_a}};
constexpr std::array<double, kDampingOrder * kReadings> kDampingB{{@damping_b}};
constexpr std::array<double, kDampedJoints * kDampingOrder> kDampingC{{@damping_c}};
constexpr std::array<double, kDampedJoints * kReadings> kDampingD{{@damping_d}};
constexpr std::array<double, kDampingOrder * kDampedJoints> kDampingG{{@damping_g}};

using Readings = std::array<double, kReadings>;
using DampingTorque = std::array<double, kDampedJoints>;

/// The law, a step a cycle, without allocation, locks or exceptions.
class ActiveDamping
{
public:
  /// Discard the whole state; the next readings start from a torque of zero.
  void stop() noexcept {on_ = false;}

  bool on() const noexcept {return on_;}

  /**
   * Add the damping torque of one cycle.
   * \param now Steady time [s].
   * \param ramp Time over which the torque grows from zero after a start [s].
   * \param y Readings; positions of joints less the desired ones.
   * \param limit Of each damping torque [N m | N].
   * \param effort_limit Of each torque [N m | N].
   * \param torque That of the controller, within its limits; the damping torque is added.
   */
  void add(
    double now, double ramp, const Readings & y, const DampingTorque & limit,
    const JointVector & effort_limit, JointVector & torque) noexcept
  {
    const double step = now - last_;
    if (!is_finite(y) || (on_ && !(std::fabs(step - kDampingPeriod) < 0.5 * kDampingPeriod))) {
      stop();
    }
    last_ = now;
    if (!is_finite(y)) {return;}
    if (!on_) {
      on_ = true;
      began_ = now;
      state_.fill(0.0);
      origin_ = y;
    }
    const double weight = ramp > 0.0 ? std::min((now - began_) / ramp, 1.0) : 1.0;
    Readings away{};
    for (std::size_t k = 0; k < kReadings; ++k) {away[k] = y[k] - origin_[k];}
    DampingTorque excess{};
    for (std::size_t k = 0; k < kDampedJoints; ++k) {
      const double u = row(kDampingC.data() + k * kDampingOrder, state_) +
        row(kDampingD.data() + k * kReadings, away);
      const double effort = effort_limit[kDampedJoint[k]];
      double & all = torque[kDampedJoint[k]];
      const double asked = weight * std::min(std::max(u, -limit[k]), limit[k]);
      const double v = std::min(std::max(asked, -effort - all), effort - all);
      all += v;
      excess[k] = v - u;
    }
    for (std::size_t k = 0; k < kDampingOrder; ++k) {
      next_[k] = row(kDampingA.data() + k * kDampingOrder, state_) +
        row(kDampingB.data() + k * kReadings, away) +
        row(kDampingG.data() + k * kDampedJoints, excess);
    }
    state_ = next_;
  }

private:
  template<std::size_t N>
  static double row(const double * row, const std::array<double, N> & values) noexcept
  {
    double sum = 0.0;
    for (std::size_t k = 0; k < N; ++k) {sum += row[k] * values[k];}
    return sum;
  }

  std::array<double, kDampingOrder> state_{}, next_{};
  Readings origin_{};
  double last_ = 0.0, began_ = 0.0;
  bool on_ = false;
};

}  // namespace arm_dynamics

#endif  // ARM_DYNAMICS__ACTIVE_DAMPING_HPP_
