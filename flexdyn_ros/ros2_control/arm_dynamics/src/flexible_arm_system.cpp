// SPDX-License-Identifier: Apache-2.0
// Hardware plugin that simulates the arm, modes included.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "arm_dynamics/arm_simulator.hpp"
#include "hardware_interface/system_interface.hpp"
#include "hardware_interface/types/hardware_interface_type_values.hpp"
#include "pluginlib/class_list_macros.hpp"
#include "rclcpp/rclcpp.hpp"

namespace arm_dynamics
{

/**
 * Each joint takes effort, and has position, velocity (link side), effort, and where they are
 * declared motor_position and motor_velocity. Brakes hold the arm while the hardware is not
 * active, or not all efforts are claimed.
 */
class FlexibleArmSystem : public hardware_interface::SystemInterface
{
public:
  using CallbackReturn = hardware_interface::CallbackReturn;
  using return_type = hardware_interface::return_type;

  CallbackReturn on_configure(const rclcpp_lifecycle::State &) override
  {
    const rclcpp::Logger logger = rclcpp::get_logger("arm_dynamics.FlexibleArmSystem");
    step_ = std::min(kStep, 0.001);
    try {
      const auto step = info_.hardware_parameters.find("step");
      if (step != info_.hardware_parameters.end()) {step_ = std::stod(step->second);}
      JointVector start{};
      for (std::size_t k = 0; k < kJoints; ++k) {start[k] = start_of(k);}
      if (!(step_ > 0.0) || !is_finite(start)) {
        RCLCPP_ERROR(logger, "step must be above zero, and each initial_value finite");
        return CallbackReturn::ERROR;
      }
      if (!simulator_.stand(start)) {
        RCLCPP_WARN(logger, "no static deflection; the arm starts straight. Check the stiffness");
      }
    } catch (const std::exception & error) {
      RCLCPP_ERROR(logger, "%s", error.what());
      return CallbackReturn::ERROR;
    }
    claimed_.fill(false);
    torque_ = JointVector{};
    publish();
    RCLCPP_INFO(
      logger, "%s: %zu joints, %zu modes, steps of at most %g s", kRobot, kJoints, kModes, step_);
    return CallbackReturn::SUCCESS;
  }

  CallbackReturn on_activate(const rclcpp_lifecycle::State &) override
  {
    torque_ = JointVector{};
    active_ = true;
    return CallbackReturn::SUCCESS;
  }

  CallbackReturn on_deactivate(const rclcpp_lifecycle::State &) override
  {
    active_ = false;
    return CallbackReturn::SUCCESS;
  }

  return_type perform_command_mode_switch(
    const std::vector<std::string> & start, const std::vector<std::string> & stop) override
  {
    for (std::size_t k = 0; k < kJoints; ++k) {
      if (std::count(stop.begin(), stop.end(), names_[k].effort) > 0) {claimed_[k] = false;}
      if (std::count(start.begin(), start.end(), names_[k].effort) > 0) {claimed_[k] = true;}
    }
    return return_type::OK;
  }

  return_type read(const rclcpp::Time &, const rclcpp::Duration & period) override
  {
    const bool released =
      active_ && std::all_of(claimed_.begin(), claimed_.end(), [](bool c) {return c;});
    if (!released) {
      simulator_.qd = Coordinates{};
    } else if (period.seconds() > 0.0) {
      simulator_.advance(torque_, std::min(period.seconds(), kLongestPeriod), step_);
    }
    if (!is_finite(simulator_.q) || !is_finite(simulator_.qd)) {return return_type::ERROR;}
    publish();
    return return_type::OK;
  }

  return_type write(const rclcpp::Time &, const rclcpp::Duration &) override
  {
    for (std::size_t k = 0; k < kJoints; ++k) {
      const double command = get_command(names_[k].effort);
      torque_[k] = std::isfinite(command) ? command : 0.0;
    }
    return return_type::OK;
  }

private:
  /// Names of a joint's interfaces, so that none is put together in the cycle.
  struct Names
  {
    std::string position, velocity, effort, motor_position, motor_velocity;
  };

  static std::array<Names, kJoints> make_names()
  {
    std::array<Names, kJoints> names;
    for (std::size_t k = 0; k < kJoints; ++k) {
      const std::string prefix = std::string(kJointNames[k]) + "/";
      names[k] = Names{
        prefix + "position", prefix + "velocity", prefix + "effort", prefix + "motor_position",
        prefix + "motor_velocity"};
    }
    return names;
  }

  /// Return the initial position of a joint [rad | m]; throws where it or an interface is missing.
  double start_of(std::size_t k)
  {
    const auto joint = std::find_if(
      info_.joints.begin(), info_.joints.end(),
      [k](const auto & each) {return each.name == kJointNames[k];});
    if (joint == info_.joints.end()) {
      throw std::runtime_error(
              std::string("<ros2_control> has no joint ") + kJointNames[k] + " of " + kRobot +
              "; add it");
    }
    double start = 0.0;
    motor_[k] = false;
    bool position = false, velocity = false, effort = false;
    for (const auto & each : joint->state_interfaces) {
      position = position || each.name == hardware_interface::HW_IF_POSITION;
      velocity = velocity || each.name == hardware_interface::HW_IF_VELOCITY;
      effort = effort || each.name == hardware_interface::HW_IF_EFFORT;
      motor_[k] = motor_[k] || each.name == "motor_position";
      if (each.name == hardware_interface::HW_IF_POSITION && !each.initial_value.empty()) {
        start = std::stod(each.initial_value);
      }
    }
    const bool commanded = joint->command_interfaces.size() == 1 &&
      joint->command_interfaces[0].name == hardware_interface::HW_IF_EFFORT;
    if (!(position && velocity && effort && commanded)) {
      throw std::runtime_error(
              std::string(kJointNames[k]) + " needs the command interface effort, and the state "
              "interfaces position, velocity and effort");
    }
    return start;
  }

  void publish()
  {
    for (std::size_t k = 0; k < kJoints; ++k) {
      set_state(names_[k].position, simulator_.link_position(k));
      set_state(names_[k].velocity, simulator_.link_velocity(k));
      set_state(names_[k].effort, torque_[k]);
      if (motor_[k]) {
        set_state(names_[k].motor_position, simulator_.q[k]);
        set_state(names_[k].motor_velocity, simulator_.qd[k]);
      }
    }
  }

  static constexpr double kLongestPeriod = 0.1;  // simulated for a late cycle [s]

  const std::array<Names, kJoints> names_ = make_names();
  ArmSimulator simulator_;
  std::array<bool, kJoints> claimed_{}, motor_{};
  JointVector torque_{};
  std::atomic<bool> active_{false};  // the life cycle may turn in another thread
  double step_ = 0.001;
};

}  // namespace arm_dynamics

PLUGINLIB_EXPORT_CLASS(arm_dynamics::FlexibleArmSystem, hardware_interface::SystemInterface)
