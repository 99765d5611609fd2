// SPDX-License-Identifier: Apache-2.0
// Chainable controller: feed-forward torque of the flexible arm, with joint PD.
#ifndef FLEXIBLE_FEED_FORWARD_CONTROLLER_HPP_
#define FLEXIBLE_FEED_FORWARD_CONTROLLER_HPP_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "arm_dynamics/arm_controller.hpp"
#include "arm_dynamics/exchange.hpp"
#include "arm_dynamics/arm_dynamics_parameters.hpp"
#include "controller_interface/chainable_controller_interface.hpp"
#include "rcl_interfaces/msg/set_parameters_result.hpp"
#include "rclcpp/rclcpp.hpp"
#include "trajectory_msgs/msg/joint_trajectory.hpp"

namespace arm_dynamics
{

using Parameters = arm_dynamics_parameters::Params;
using ParameterListener = arm_dynamics_parameters::ParamListener;

/**
 * Commands the effort of each joint.
 *
 * Chained, the exported references of each joint are the desired motion; unchained, the last point
 * on ~/reference is. Where a position is missing, the arm holds its position.
 */
class FlexibleFeedForwardController : public controller_interface::ChainableControllerInterface
{
public:
  controller_interface::CallbackReturn on_init() override;
  controller_interface::CallbackReturn on_configure(const rclcpp_lifecycle::State &) override;
  controller_interface::CallbackReturn on_activate(const rclcpp_lifecycle::State &) override;
  controller_interface::CallbackReturn on_deactivate(const rclcpp_lifecycle::State &) override;
  controller_interface::CallbackReturn on_cleanup(const rclcpp_lifecycle::State &) override;
  controller_interface::InterfaceConfiguration command_interface_configuration() const override;
  controller_interface::InterfaceConfiguration state_interface_configuration() const override;

  controller_interface::return_type update_reference_from_subscribers(
    const rclcpp::Time & time, const rclcpp::Duration & period) override;
  controller_interface::return_type update_and_write_commands(
    const rclcpp::Time & time, const rclcpp::Duration & period) override;

protected:
#ifdef EXPORTS_LISTS
  std::vector<hardware_interface::CommandInterface::SharedPtr>
  on_export_reference_interfaces_list() override;
#else
  std::vector<hardware_interface::CommandInterface> on_export_reference_interfaces() override;
#endif
  bool on_set_chained_mode(bool chained) override;

private:
  using Clock = std::chrono::steady_clock;

  ControllerSettings settings_of(const Parameters & parameters) const;
  rcl_interfaces::msg::SetParametersResult check(
    const std::vector<rclcpp::Parameter> & changes) const;
  void take_parameters();
  void take_reference(const trajectory_msgs::msg::JointTrajectory & message);
  bool read_state(MeasuredState & state) const;
  void write_torque();
  Reference at_rest() const;
  void read_references();
  void forget_references();
  void report();

  std::shared_ptr<ParameterListener> listener_;
  Parameters listened_;
  rclcpp::node_interfaces::OnSetParametersCallbackHandle::SharedPtr checks_;
  rclcpp::TimerBase::SharedPtr timer_;
  rclcpp::Subscription<trajectory_msgs::msg::JointTrajectory>::SharedPtr subscription_;

  std::vector<std::size_t> columns_;  // index of each commanded joint in the arm
  std::string position_, velocity_;
  std::vector<std::string> damping_interfaces_;  // of sensors that are not positions of joints
  std::atomic<double> reference_timeout_{0.1};
  double now_ = 0.0;  // steady time of the cycle, sum of the periods [s]

  ArmController controller_;
  Exchange<ControllerSettings> new_settings_;
  Exchange<Reference> new_reference_;
  Reference reference_;
  JointVector torque_{};  // last commanded
  Clock::time_point deactivated_at_;
  double received_at_ = 0.0;  // time of the cycle that took the topic's reference [s]
  std::atomic<Cycle> cycle_{Cycle::kSilent};
  Cycle reported_ = Cycle::kSilent;
};

}  // namespace arm_dynamics

#endif  // FLEXIBLE_FEED_FORWARD_CONTROLLER_HPP_
