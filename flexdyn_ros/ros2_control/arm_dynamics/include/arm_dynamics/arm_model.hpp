// SPDX-License-Identifier: Apache-2.0
// The generated functions of the arm, with gravity and payload as run-time inputs.
#ifndef ARM_DYNAMICS__ARM_MODEL_HPP_
#define ARM_DYNAMICS__ARM_MODEL_HPP_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "arm_dynamics/model.hpp"

namespace arm_dynamics
{

using JointVector = std::array<double, kJoints>;
using ModalVector = std::array<double, kModes>;

/// Joint positions [rad | m], velocities and accelerations.
struct JointMotion
{
  JointVector q{};
  JointVector qd{};
  JointVector qdd{};
};

/// Deflections, their rates, accelerations, and the averages of the time integration.
struct ModalState
{
  std::array<double, 4 * kModes> values{};

  double * deflection() {return values.data();}
  double * rate() {return values.data() + kModes;}
  double * acceleration() {return values.data() + 2 * kModes;}
  double * average() {return values.data() + 3 * kModes;}
};

template<std::size_t N>
bool is_finite(const std::array<double, N> & values) noexcept
{
  return std::all_of(values.begin(), values.end(), [](double x) {return std::isfinite(x);});
}

/// Dynamics without allocation, locks or exceptions; one object serves one thread.
class ArmModel
{
public:
  std::array<double, 3> gravity = kDeclaredGravity;   ///< in the root frame [m/s^2]
  /// Mass, com, and ixx iyy izz ixy ixz iyz about the com.
  std::array<double, 10> payload = kDeclaredPayload;

  void gravity_vector(const JointVector & q, const double * deflection, JointVector & out) noexcept
  {
    join(q_, q, deflection);
    functions::gravity_vector(
      q_.data(), gravity.data(), payload.data(), result_.data(), work_.data());
    take(out);
  }

  void friction_vector(const JointVector & qd, const double * rate, JointVector & out) noexcept
  {
    join(qd_, qd, rate);
    functions::friction_vector(
      qd_.data(), gravity.data(), payload.data(), result_.data(), work_.data());
    take(out);
  }

  void coriolis_vector(const JointVector & q, const JointVector & qd, JointVector & out) noexcept
  {
    join(q_, q, still_.data());
    join(qd_, qd, still_.data());
    functions::coriolis_vector(
      q_.data(), qd_.data(), gravity.data(), payload.data(), result_.data(), work_.data());
    take(out);
  }

  void inverse_dynamics(const JointMotion & motion, JointVector & out) noexcept
  {
    join(q_, motion.q, still_.data());
    join(qd_, motion.qd, still_.data());
    join(qdd_, motion.qdd, still_.data());
    functions::inverse_dynamics(
      q_.data(), qd_.data(), qdd_.data(), gravity.data(), payload.data(), result_.data(),
      work_.data());
    take(out);
  }

  /// Write the joint rows and columns of the mass matrix, by rows.
  void mass_matrix(const JointVector & q, std::array<double, kJoints * kJoints> & out) noexcept
  {
    join(q_, q, still_.data());
    functions::mass_matrix(
      q_.data(), gravity.data(), payload.data(), matrix_.data(), work_.data());
    for (std::size_t row = 0; row < kJoints; ++row) {
      for (std::size_t k = 0; k < kJoints; ++k) {
        out[row * kJoints + k] = matrix_[row * (kJoints + kModes) + k];
      }
    }
  }

  /// Write torques and the static deflection; return whether Newton's method converged.
  bool quasi_static_torque(
    const JointMotion & motion, JointVector & torque, double * deflection) noexcept
  {
    functions::quasi_static_torque(
      motion.q.data(), motion.qd.data(), motion.qdd.data(), gravity.data(), payload.data(),
      torque.data(), deflection, change_.data(), work_.data());
    double size = kSmallestDeflection, change = 0.0;
    for (std::size_t k = 0; k < kModes; ++k) {
      size = std::max(size, std::fabs(deflection[k]));
      change = std::max(change, std::fabs(change_[k]));
      if (!std::isfinite(deflection[k] + change_[k])) {return false;}
    }
    return change <= kTolerance * size;
  }

  /// Write torques and the modal accelerations at joint accelerations and a modal state.
  void hybrid_dynamics(const JointMotion & motion, ModalState & state, JointVector & torque)
  noexcept
  {
    join(q_, motion.q, state.deflection());
    join(qd_, motion.qd, state.rate());
    functions::hybrid_dynamics(
      q_.data(), qd_.data(), motion.qdd.data(), gravity.data(), payload.data(), torque.data(),
      state.acceleration(), work_.data());
  }

  /// Write torques and the modal state after a step of size `h` [s] that ends at a motion.
  void hybrid_step(
    const JointMotion & motion, double h, double spectral_radius, ModalState & state,
    JointVector & torque) noexcept
  {
    const std::array<double, 2> step{{h, spectral_radius}};
    const ModalState before = state;
    functions::hybrid_step(
      motion.q.data(), motion.qd.data(), motion.qdd.data(), before.values.data(), step.data(),
      gravity.data(), payload.data(), torque.data(), state.values.data(), work_.data());
  }

  /// Write the accelerations of joints and modes, at positions and velocities of both.
  void forward_dynamics(
    const std::array<double, kJoints + kModes> & q,
    const std::array<double, kJoints + kModes> & qd,
    const std::array<double, kJoints + kModes> & tau,
    std::array<double, kJoints + kModes> & qdd) noexcept
  {
    functions::forward_dynamics(
      q.data(), qd.data(), tau.data(), gravity.data(), payload.data(), qdd.data(), work_.data());
  }

private:
  using Coordinates = std::array<double, kJoints + kModes>;

  static void join(Coordinates & all, const JointVector & joints, const double * modes) noexcept
  {
    std::copy_n(joints.begin(), kJoints, all.begin());
    std::copy_n(modes, kModes, all.begin() + kJoints);
  }

  void take(JointVector & out) const noexcept {std::copy_n(result_.begin(), kJoints, out.begin());}

  static constexpr double kTolerance = 1e-7;            // of a deflection [1]
  static constexpr double kSmallestDeflection = 1e-6;   // that the tolerance refers to [m | rad]

  Coordinates q_{}, qd_{}, qdd_{}, result_{};
  std::array<double, (kJoints + kModes) * (kJoints + kModes)> matrix_{};
  ModalVector still_{}, change_{};
  std::array<double, kWork + 1> work_{};
};

}  // namespace arm_dynamics

#endif  // ARM_DYNAMICS__ARM_MODEL_HPP_
