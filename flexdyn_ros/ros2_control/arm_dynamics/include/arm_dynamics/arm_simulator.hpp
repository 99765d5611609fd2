// SPDX-License-Identifier: Apache-2.0
// The arm simulated: joints and modes under joint torques, by the classical Runge-Kutta method.
#ifndef ARM_DYNAMICS__ARM_SIMULATOR_HPP_
#define ARM_DYNAMICS__ARM_SIMULATOR_HPP_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "arm_dynamics/arm_model.hpp"

namespace arm_dynamics
{

using Coordinates = std::array<double, kJoints + kModes>;

class ArmSimulator
{
public:
  ArmModel arm;
  Coordinates q{};   ///< joints (motor side), then modes [rad | m]
  Coordinates qd{};  ///< [rad/s | m/s]

  /// Stand at joint positions, bent by gravity; return whether that deflection was found.
  bool stand(const JointVector & joints) noexcept
  {
    JointMotion still;
    still.q = joints;
    JointVector torque{};
    ModalVector deflection{};
    const bool found = arm.quasi_static_torque(still, torque, deflection.data());
    if (!found) {deflection = ModalVector{};}
    std::copy(joints.begin(), joints.end(), q.begin());
    std::copy(deflection.begin(), deflection.end(), q.begin() + kJoints);
    qd = Coordinates{};
    return found;
  }

  /// Simulate an interval [s] in equal steps of at most `step` [s], at constant torques.
  void advance(const JointVector & torque, double interval, double step) noexcept
  {
    std::copy(torque.begin(), torque.end(), tau_.begin());
    const double steps = std::max(1.0, std::ceil(interval / step - 1e-9));
    for (double left = steps; left > 0.0; left -= 1.0) {take_step(interval / steps);}
  }

  /// Return a joint's position on the link side of its spring.
  double link_position(std::size_t joint) const noexcept {return behind_spring(q, joint);}
  double link_velocity(std::size_t joint) const noexcept {return behind_spring(qd, joint);}

private:
  static double behind_spring(const Coordinates & values, std::size_t joint) noexcept
  {
    double value = values[joint];
    for (const Spring & spring : kSprings) {
      if (spring.joint == joint) {value += values[kJoints + spring.mode];}
    }
    return value;
  }

  void take_step(double h) noexcept
  {
    constexpr std::array<double, 4> at{{0.0, 0.5, 0.5, 1.0}};
    constexpr std::array<double, 4> weight{{1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0}};
    Coordinates next_q = q, next_qd = qd, stage_q{}, stage_qd{}, rate{}, qdd{};
    for (std::size_t stage = 0; stage < at.size(); ++stage) {
      for (std::size_t k = 0; k < q.size(); ++k) {
        stage_q[k] = q[k] + at[stage] * h * rate[k];
        stage_qd[k] = qd[k] + at[stage] * h * qdd[k];
      }
      rate = stage_qd;
      arm.forward_dynamics(stage_q, stage_qd, tau_, qdd);
      for (std::size_t k = 0; k < q.size(); ++k) {
        next_q[k] += weight[stage] * h * rate[k];
        next_qd[k] += weight[stage] * h * qdd[k];
      }
    }
    q = next_q;
    qd = next_qd;
  }

  Coordinates tau_{};
};

}  // namespace arm_dynamics

#endif  // ARM_DYNAMICS__ARM_SIMULATOR_HPP_
