// SPDX-License-Identifier: Apache-2.0
// Plugin of inverse_dynamics_solver: gravity, rigid and quasi-static torques.
// Its interface is const, without time and by value: it has no vibration, and it allocates.
#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "arm_dynamics/feed_forward.hpp"
#include "pluginlib/class_list_macros.hpp"
#include "rclcpp/parameter.hpp"
#if __has_include("inverse_dynamics_solver/inverse_dynamics_solver.hpp")
#include "inverse_dynamics_solver/inverse_dynamics_solver.hpp"
#else
#include "inverse_dynamics_solver/inverse_dynamics_solver.h"
#endif

namespace arm_dynamics
{

namespace
{

JointVector joints_of(const Eigen::VectorXd & values, const char * name)
{
  if (values.size() != static_cast<Eigen::Index>(kJoints) || !values.allFinite()) {
    throw std::invalid_argument(
            std::string(name) + " must be finite, with one entry for each joint of " +
            kRobot);
  }
  JointVector joints{};
  std::copy_n(values.data(), kJoints, joints.begin());
  return joints;
}

Eigen::VectorXd vector_of(const JointVector & joints)
{
  return Eigen::Map<const Eigen::VectorXd>(
    joints.data(), static_cast<Eigen::Index>(joints.size()));
}

}  // namespace

/**
 * Joints are in the order of kJointNames.
 *
 * Parameters under the namespace: torque_model (rigid or flexible_quasi_static), gravity (three
 * numbers), and payload (ten numbers: mass, com, ixx iyy izz ixy ixz iyz).
 */
class InverseDynamicsSolver : public inverse_dynamics_solver::InverseDynamicsSolver
{
public:
  void initialize(
    rclcpp::node_interfaces::NodeParametersInterface::ConstSharedPtr parameters,
    const std::string & param_namespace, const std::string &) override
  {
    const std::string prefix = param_namespace.empty() ? "" : param_namespace + ".";
    rclcpp::Parameter value;
    const auto given = [&](const std::string & name) {
        return parameters && parameters->has_parameter(prefix + name) &&
               parameters->get_parameter(prefix + name, value);
      };
    if (given("torque_model")) {
      const std::string model = value.as_string();
      if (model != "rigid" && model != "flexible_quasi_static") {
        throw std::invalid_argument(
                "torque_model is \"" + model + "\", expected rigid or flexible_quasi_static");
      }
      settings_.model =
        model == "rigid" ? TorqueModel::kRigid : TorqueModel::kQuasiStatic;
    }
    if (given("gravity")) {fill(value.as_double_array(), "gravity", gravity_);}
    if (given("payload")) {fill(value.as_double_array(), "payload", payload_);}
  }

  Eigen::MatrixXd getInertiaMatrix(const Eigen::VectorXd & joint_positions) const override
  {
    FeedForward dynamics = prepared();
    std::array<double, kJoints * kJoints> matrix{};
    dynamics.arm.mass_matrix(joints_of(joint_positions, "joint_positions"), matrix);
    constexpr auto size = static_cast<Eigen::Index>(kJoints);
    return Eigen::Map<const Eigen::MatrixXd>(matrix.data(), size, size);  // it is symmetric
  }

  Eigen::VectorXd getCoriolisVector(
    const Eigen::VectorXd & joint_positions,
    const Eigen::VectorXd & joint_velocities) const override
  {
    FeedForward dynamics = prepared();
    JointVector torque{};
    dynamics.arm.coriolis_vector(
      joints_of(joint_positions, "joint_positions"),
      joints_of(joint_velocities, "joint_velocities"), torque);
    return vector_of(torque);
  }

  Eigen::VectorXd getGravityVector(const Eigen::VectorXd & joint_positions) const override
  {
    FeedForward dynamics = prepared();
    JointVector torque{};
    dynamics.gravity(joints_of(joint_positions, "joint_positions"), torque);
    return vector_of(torque);
  }

  Eigen::VectorXd getFrictionVector(const Eigen::VectorXd & joint_velocities) const override
  {
    FeedForward dynamics = prepared();
    JointVector torque{};
    const ModalVector still{};
    dynamics.arm.friction_vector(
      joints_of(joint_velocities, "joint_velocities"), still.data(), torque);
    return vector_of(torque);
  }

  /// Return the torque of torque_model, without friction.
  Eigen::VectorXd getTorques(
    const Eigen::VectorXd & joint_positions, const Eigen::VectorXd & joint_velocities,
    const Eigen::VectorXd & joint_accelerations) const override
  {
    FeedForward dynamics = prepared();
    JointVector torque{};
    const JointMotion motion{
      joints_of(joint_positions, "joint_positions"),
      joints_of(joint_velocities, "joint_velocities"),
      joints_of(joint_accelerations, "joint_accelerations")};
    if (!dynamics.torque(settings_, 0.0, motion, torque)) {
      throw std::runtime_error("no quasi-static deflection: reduce the loads, near buckling");
    }
    return vector_of(torque);
  }

private:
  template<std::size_t N>
  static void fill(
    const std::vector<double> & values, const char * name, std::array<double, N> & filled)
  {
    if (values.size() != N) {
      throw std::invalid_argument(
              std::string(name) + " must have " + std::to_string(N) + " entries");
    }
    std::copy(values.begin(), values.end(), filled.begin());
  }

  /// Return dynamics of the caller's own, so that several threads may call one solver.
  FeedForward prepared() const
  {
    FeedForward dynamics;
    dynamics.arm.gravity = gravity_;
    dynamics.arm.payload = payload_;
    return dynamics;
  }

  static FeedForwardSettings without_friction()
  {
    FeedForwardSettings settings;
    settings.friction_compensated = false;
    return settings;
  }

  FeedForwardSettings settings_ = without_friction();
  std::array<double, 3> gravity_ = kDeclaredGravity;
  std::array<double, 10> payload_ = kDeclaredPayload;
};

}  // namespace arm_dynamics

PLUGINLIB_EXPORT_CLASS(
  arm_dynamics::InverseDynamicsSolver, inverse_dynamics_solver::InverseDynamicsSolver)
