// SPDX-License-Identifier: Apache-2.0
// Compares torques with those that flexdyn_ros computed when it wrote this package.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>

#include "arm_dynamics/arm_model.hpp"
#include "expected.hpp"

using arm_dynamics::JointVector;
using arm_dynamics::kJoints;

namespace
{

constexpr double kTolerance = 1e-12;  // of the largest torque [1]

bool compare(const char * what, const JointVector & found, const JointVector & expected)
{
  double error = 0.0, size = 0.0;
  for (std::size_t k = 0; k < kJoints; ++k) {
    error = std::max(error, std::fabs(found[k] - expected[k]));
    size = std::max(size, std::fabs(expected[k]));
  }
  const bool right = error <= kTolerance * size && arm_dynamics::is_finite(found);
  std::printf("%s %s: error %.3g of %.3g\n", right ? "ok  " : "FAIL", what, error, size);
  return right;
}

}  // namespace

int main()
{
  bool right = true;
  for (const Case & each : kCases) {
    arm_dynamics::ArmModel arm;
    arm.gravity = each.gravity;
    arm.payload = each.payload;
    const arm_dynamics::ModalVector still{};
    arm_dynamics::ModalState state;
    state.values = each.modal_state;
    JointVector torque{};
    arm.gravity_vector(each.motion.q, still.data(), torque);
    right = compare("gravity", torque, each.gravity_torque) && right;
    arm.inverse_dynamics(each.motion, torque);
    right = compare("rigid", torque, each.rigid) && right;
    arm_dynamics::ModalVector deflection{};
    right = arm.quasi_static_torque(each.motion, torque, deflection.data()) && right;
    right = compare("quasi-static", torque, each.quasi_static) && right;
    arm.hybrid_step(each.motion, kModalStep, kSpectralRadius, state, torque);
    right = compare("hybrid", torque, each.hybrid) && right;
  }
  return right ? 0 : 1;
}
