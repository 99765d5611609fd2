// SPDX-License-Identifier: Apache-2.0
// The arm "@robot" in numbers, and its generated functions. SI units.
#ifndef ARM_DYNAMICS__MODEL_HPP_
#define ARM_DYNAMICS__MODEL_HPP_

#include <array>
#include <cstddef>
#include <limits>

@includes

namespace arm_dynamics
{

/// Limits of the description; infinite where it has none.
struct JointLimits
{
  double lower, upper;  // [rad | m]
  double velocity;      // [rad/s | m/s]
  double effort;        // [N m | N]
};

/// An elastic joint: its index, and that of its deflection among the modes.
struct Spring
{
  std::size_t joint, mode;
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();

constexpr const char * kRobot = "@robot";
constexpr std::size_t kJoints = @n_joints;
constexpr std::size_t kModes = @n_modes;
constexpr std::size_t kWork = @work;  // doubles that the functions need beside the stack
constexpr std::array<const char *, kJoints> kJointNames{{@joint_names}};
constexpr std::array<const char *, kModes> kModeNames{{@mode_names}};
constexpr std::array<JointLimits, kJoints> kJointLimits{{
@joint_limits}};
constexpr std::array<Spring, @n_springs> kSprings{{@springs}};

constexpr std::array<double, 3> kDeclaredGravity{{@gravity}};
constexpr const char * kPayloadLink = "@payload_link";
constexpr std::array<double, 10> kDeclaredPayload{{@payload}};
constexpr double kStep = @step;  // half the longest stable step of a simulation by rk4 [s]

// Every function ends in a work array of kWork entries.
namespace functions
{
@functions
}  // namespace functions

}  // namespace arm_dynamics

#endif  // ARM_DYNAMICS__MODEL_HPP_
