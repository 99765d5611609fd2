// SPDX-License-Identifier: Apache-2.0
// The torque for a joint motion: none, gravity, rigid, quasi-static, or with integrated modes.
#ifndef ARM_DYNAMICS__FEED_FORWARD_HPP_
#define ARM_DYNAMICS__FEED_FORWARD_HPP_

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "arm_dynamics/arm_model.hpp"

namespace arm_dynamics
{

enum class TorqueModel {kNone, kGravity, kRigid, kQuasiStatic, kHybrid};

struct FeedForwardSettings
{
  TorqueModel model = TorqueModel::kRigid;
  bool gravity_compensated = true;    ///< whether the torque contains gravity
  bool friction_compensated = true;   ///< whether it contains damping and friction of joints
  bool link_side = false;             ///< whether motions of elastic joints are those of links
  double longest_step = 0.002;        ///< of the modal integration [s]
  double longest_gap = 0.1;           ///< interval above which the modes restart [s]
  double spectral_radius = 0.9;       ///< amplitude that a step leaves of very fast vibrations [1]
};

/// Inverse dynamics of an arm whose joint motion is given and whose modes follow.
class FeedForward
{
public:
  ArmModel arm;

  /// Discard the modal state: the next motion starts at its quasi-static deflection, at rest.
  void reset() noexcept {started_ = false;}

  /// Write gravity of the undeformed arm.
  void gravity(const JointVector & q, JointVector & torque) noexcept
  {
    const ModalVector still{};
    arm.gravity_vector(q, still.data(), torque);
  }

  /// Write the torque at a time [s]; return false where it cannot be computed.
  bool torque(
    const FeedForwardSettings & settings, double time, const JointMotion & motion,
    JointVector & torque) noexcept
  {
    if (settings.model == TorqueModel::kNone) {
      torque = JointVector{};
      return true;
    }
    if (settings.model == TorqueModel::kGravity) {
      gravity(motion.q, torque);
      return is_finite(torque);
    }
    bool found = true;
    JointMotion motor = motion;
    if (settings.model == TorqueModel::kRigid || kModes == 0) {
      state_ = ModalState{};
      arm.inverse_dynamics(motion, torque);
    } else if (settings.model == TorqueModel::kQuasiStatic) {
      found = static_torque(settings, motion, motor, torque);
    } else {
      found = hybrid_torque(settings, time, motion, torque);
    }
    JointVector part{};
    if (!settings.gravity_compensated) {
      arm.gravity_vector(motor.q, state_.deflection(), part);
      subtract(part, torque);
    }
    if (!settings.friction_compensated) {
      arm.friction_vector(motor.qd, state_.rate(), part);
      subtract(part, torque);
    }
    return found && is_finite(torque);
  }

private:
  static void subtract(const JointVector & part, JointVector & torque) noexcept
  {
    for (std::size_t k = 0; k < kJoints; ++k) {torque[k] -= part[k];}
  }

  /// Write torque and the motion of the motors, which the springs set apart from that of links.
  bool static_torque(
    const FeedForwardSettings & settings, const JointMotion & motion, JointMotion & motor,
    JointVector & torque) noexcept
  {
    state_ = ModalState{};
    const bool behind_springs = settings.link_side && !kSprings.empty();
    for (std::size_t round = 0; round < kRounds; ++round) {
      if (!arm.quasi_static_torque(motor, torque, state_.deflection())) {return false;}
      if (!behind_springs) {return true;}
      double moved = 0.0;
      for (const Spring & spring : kSprings) {
        const double q = motion.q[spring.joint] - state_.deflection()[spring.mode];
        moved = std::max(moved, std::fabs(q - motor.q[spring.joint]));
        motor.q[spring.joint] = q;
      }
      if (moved <= kMoved) {return true;}
    }
    return false;
  }

  bool hybrid_torque(
    const FeedForwardSettings & settings, double time, const JointMotion & motion,
    JointVector & torque) noexcept
  {
    const double interval = started_ ? time - time_ : 0.0;
    bool found = true;
    if (interval > 0.0 && interval <= settings.longest_gap) {
      const double steps = std::max(1.0, std::ceil(interval / settings.longest_step - 1e-9));
      const double h = interval / steps;
      const JointMotion start = motion_;
      for (double left = steps - 1.0; left >= 0.0; left -= 1.0) {
        arm.hybrid_step(
          between(start, motion, 1.0 - left / steps), h, settings.spectral_radius, state_, torque);
      }
    } else {
      if (!started_ || interval != 0.0) {
        state_ = ModalState{};
        found = arm.quasi_static_torque(motion, torque, state_.deflection());
      }
      arm.hybrid_dynamics(motion, state_, torque);
    }
    started_ = found && is_finite(state_.values);
    time_ = time;
    motion_ = motion;
    return started_;
  }

  static JointMotion between(const JointMotion & a, const JointMotion & b, double s) noexcept
  {
    if (s >= 1.0) {return b;}
    JointMotion mixed;
    for (std::size_t k = 0; k < kJoints; ++k) {
      mixed.q[k] = (1.0 - s) * a.q[k] + s * b.q[k];
      mixed.qd[k] = (1.0 - s) * a.qd[k] + s * b.qd[k];
      mixed.qdd[k] = (1.0 - s) * a.qdd[k] + s * b.qdd[k];
    }
    return mixed;
  }

  static constexpr std::size_t kRounds = 20;  // of the search for the motors' positions
  static constexpr double kMoved = 1e-10;     // largest motion of the last round [rad | m]

  ModalState state_;
  JointMotion motion_;
  double time_ = 0.0;
  bool started_ = false;
};

}  // namespace arm_dynamics

#endif  // ARM_DYNAMICS__FEED_FORWARD_HPP_
