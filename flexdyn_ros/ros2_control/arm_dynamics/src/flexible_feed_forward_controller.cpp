// SPDX-License-Identifier: Apache-2.0
#include "flexible_feed_forward_controller.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <limits>
#include <map>
#include <stdexcept>
#include <utility>

#include "hardware_interface/types/hardware_interface_type_values.hpp"
#include "interfaces.hpp"
#include "pluginlib/class_list_macros.hpp"

namespace arm_dynamics
{

namespace
{

using controller_interface::CallbackReturn;
using controller_interface::InterfaceConfiguration;
using controller_interface::interface_configuration_type;
using controller_interface::return_type;

// Within it controller_manager restarts a controller whose chained mode changes.
constexpr std::chrono::milliseconds kRestart{20};
constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
constexpr std::array<const char *, 4> kReferences{{
  hardware_interface::HW_IF_POSITION, hardware_interface::HW_IF_VELOCITY,
  hardware_interface::HW_IF_ACCELERATION, hardware_interface::HW_IF_EFFORT}};

/// Return the part of a reference that one of kReferences names.
JointVector & part_of(Reference & reference, std::size_t kind)
{
  switch (kind) {
    case 0: return reference.q;
    case 1: return reference.qd;
    case 2: return reference.qdd;
    default: return reference.effort;
  }
}

std::size_t column_of(const std::string & joint)
{
  const auto found = std::find(kJointNames.begin(), kJointNames.end(), joint);
  return static_cast<std::size_t>(found - kJointNames.begin());
}

/// Return values of one entry, or of one for each commanded joint, for all joints of the arm.
JointVector spread(
  const std::vector<double> & values, const std::vector<std::size_t> & columns, double otherwise,
  const std::string & name)
{
  JointVector all = filled(otherwise);
  if (values.empty()) {return all;}
  if (values.size() != 1 && values.size() != columns.size()) {
    throw std::invalid_argument(
            name + " has " + std::to_string(values.size()) + " entries, expected 1 or " +
            std::to_string(columns.size()));
  }
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const double value = values[values.size() == 1 ? 0 : k];
    if (!(value >= 0.0)) {throw std::invalid_argument(name + " must be zero or more, and finite");}
    all[columns[k]] = value;
  }
  return all;
}

template<std::size_t N>
std::array<double, N> fixed(const std::vector<double> & values, const std::string & name)
{
  std::array<double, N> all{};
  if (!values.empty() && values.size() != N) {
    throw std::invalid_argument(
            name + " has " + std::to_string(values.size()) + " entries, expected " +
            std::to_string(N));
  }
  std::copy(values.begin(), values.end(), all.begin());
  if (!is_finite(all)) {throw std::invalid_argument(name + " must be finite");}
  return all;
}

std::array<double, 10> payload_of(const Parameters & parameters)
{
  const auto & payload = parameters.payload;
  if (payload.mass < 0.0) {return kDeclaredPayload;}
  const auto com = fixed<3>(payload.com, "payload.com");
  const auto moments = fixed<6>(payload.inertia, "payload.inertia");
  const auto [xx, xy, xz, yy, yz, zz] = moments;
  return {{payload.mass, com[0], com[1], com[2], xx, yy, zz, xy, xz, yz}};
}

TorqueModel model_of(const std::string & name)
{
  if (name == "none") {return TorqueModel::kNone;}
  if (name == "gravity") {return TorqueModel::kGravity;}
  if (name == "rigid") {return TorqueModel::kRigid;}
  return name == "flexible_hybrid" ? TorqueModel::kHybrid : TorqueModel::kQuasiStatic;
}

StalePolicy policy_of(const std::string & name)
{
  if (name == "gravity") {return StalePolicy::kGravity;}
  if (name == "zero") {return StalePolicy::kZero;}
  return name == "hold" ? StalePolicy::kHold : StalePolicy::kAuto;
}

/// Put a changed parameter in its place, where others decide whether it is valid.
void put(const rclcpp::Parameter & change, Parameters & parameters)
{
  const std::map<std::string, std::vector<double> *> arrays{
    {"pd.kp", &parameters.pd.kp}, {"pd.kd", &parameters.pd.kd}, {"pd.limit", &parameters.pd.limit},
    {"gravity", &parameters.gravity}, {"payload.com", &parameters.payload.com},
    {"payload.inertia", &parameters.payload.inertia},
    {"damping.limit", &parameters.damping.limit}};
  const std::map<std::string, std::string *> texts{
    {"torque_model", &parameters.torque_model}, {"reference_side", &parameters.reference_side}};
  const std::map<std::string, bool *> flags{
    {"compensate.gravity", &parameters.compensate.gravity},
    {"damping.enabled", &parameters.damping.enabled},
    {"limit_torques", &parameters.limit_torques}};
  const std::string & name = change.get_name();
  if (arrays.count(name) > 0) {*arrays.at(name) = change.as_double_array();}
  if (texts.count(name) > 0) {*texts.at(name) = change.as_string();}
  if (flags.count(name) > 0) {*flags.at(name) = change.as_bool();}
  if (name == "payload.mass") {parameters.payload.mass = change.as_double();}
}

/// Return the sensors of the active damping that are not positions of joints.
std::vector<std::string> sensors_of_damping()
{
  std::vector<std::string> names;
  for (std::size_t k = 0; k < kReadings; ++k) {
    if (kReadJoint[k] == kJoints) {names.push_back(kReadingNames[k]);}
  }
  return names;
}

/// Refuse active damping where rate, side or model differ from those of the design.
void check_damping(
  const ControllerSettings & settings, const Parameters & parameters,
  const std::vector<std::size_t> & columns, double rate)
{
  const auto refuse = [](const std::string & why) {
      throw std::invalid_argument("damping.enabled: " + why);
    };
  if (kDampingOrder == 0) {refuse("the package has no design; generate it with --damping");}
  if (std::fabs(rate * kDampingPeriod - 1.0) > 0.01) {
    refuse("the design needs a rate of " + std::to_string(1.0 / kDampingPeriod) + " Hz");
  }
  if (settings.feed_forward.link_side && !kSprings.empty()) {
    refuse("the joint loop of the design is that of the motors; set reference_side to motor");
  }
  if (settings.payload != kDeclaredPayload || settings.gravity != kDeclaredGravity) {
    refuse("the design needs payload and gravity of the description");
  }
  const JointVector none{};
  if (settings.kp != (kJointLoopInDrives ? none : kJointLoopKp) ||
    settings.kd != (kJointLoopInDrives ? none : kJointLoopKd))
  {
    refuse(kJointLoopInDrives ?
      "the joint loop is in the drives, so pd.kp and pd.kd must be zero" :
      "pd.kp and pd.kd must be those of the design");
  }
  const std::vector<std::string> sensors = sensors_of_damping();
  if (parameters.damping.interfaces.size() != sensors.size()) {
    std::string listed;
    for (const std::string & name : sensors) {listed += " " + name;}
    refuse("damping.interfaces must list one state interface for each sensor:" + listed);
  }
  for (std::size_t joint : kDampedJoint) {
    if (std::count(columns.begin(), columns.end(), joint) == 0) {
      refuse(std::string(kJointNames[joint]) + " damps a mode; add it to joints");
    }
  }
}

const char * text_of(Cycle cycle)
{
  switch (cycle) {
    case Cycle::kTracking: return "tracks the reference";
    case Cycle::kHolding: return "holds the position: no reference";
    case Cycle::kStale:
      return "follows stale_policy: no valid joint state or torque; check the hardware";
    default: return "commands nothing: it is inactive, or waits for a joint state";
  }
}

}  // namespace

ControllerSettings FlexibleFeedForwardController::settings_of(const Parameters & parameters) const
{
  ControllerSettings settings;
  FeedForwardSettings & torque = settings.feed_forward;
  torque.model = model_of(parameters.torque_model);
  torque.link_side = parameters.reference_side == "link";
  torque.gravity_compensated = parameters.compensate.gravity;
  torque.friction_compensated = parameters.compensate.friction;
  torque.longest_step = parameters.modes.step;
  torque.longest_gap = parameters.modes.maximum_gap;
  torque.spectral_radius = parameters.modes.spectral_radius;
  if (torque.model == TorqueModel::kHybrid && torque.link_side && !kSprings.empty()) {
    throw std::invalid_argument(
            "torque_model flexible_hybrid takes references of the motor side; set reference_side");
  }
  if (torque.model == TorqueModel::kGravity && !torque.gravity_compensated) {
    throw std::invalid_argument(
            "compensate.gravity is false, and with torque_model gravity the torque is gravity "
            "alone; set torque_model to rigid");
  }
  settings.shaping.soft_start_time = parameters.soft_start_time;
  settings.shaping.rate_limit = parameters.torque_rate_limit;
  settings.shaping.change_ramp_time = parameters.change_ramp_time;
  if (!parameters.gravity.empty()) {settings.gravity = fixed<3>(parameters.gravity, "gravity");}
  settings.payload = payload_of(parameters);
  settings.kp = spread(parameters.pd.kp, columns_, 0.0, "pd.kp");
  settings.kd = spread(parameters.pd.kd, columns_, 0.0, "pd.kd");
  settings.pd_limit = spread(parameters.pd.limit, columns_, kInfinity, "pd.limit");
  for (std::size_t k : columns_) {
    const double effort = kJointLimits[k].effort;
    if (!parameters.limit_torques) {continue;}
    if (effort == 0.0 && parameters.zero_effort_limit.empty()) {
      throw std::invalid_argument(
              std::string(kJointNames[k]) + " declares <limit effort=\"0\">; set "
              "zero_effort_limit to as_declared or unlimited");
    }
    if (effort != 0.0 || parameters.zero_effort_limit == "as_declared") {
      settings.effort_limit[k] = effort;
    }
  }
  settings.damping = parameters.damping.enabled;
  const auto & caps = parameters.damping.limit;
  if (!caps.empty()) {
    if (caps.size() != kDampedJoints) {
      throw std::invalid_argument(
              "damping.limit has " + std::to_string(caps.size()) + " entries, expected " +
              std::to_string(kDampedJoints));
    }
    for (std::size_t k = 0; k < kDampedJoints; ++k) {
      if (!(caps[k] >= 0.0)) {throw std::invalid_argument("damping.limit must be zero or more");}
      settings.damping_limit[k] = caps[k];
    }
  }
  if (settings.damping) {
    check_damping(settings, parameters, columns_, static_cast<double>(get_update_rate()));
  }
  settings.stale_policy = policy_of(parameters.stale_policy);
  settings.timeout = parameters.timeout;
  settings.stale_gravity_time = parameters.stale_gravity_time;
  settings.stale_ramp_time = parameters.stale_ramp_time;
  settings.velocity_factor = parameters.plausible.velocity_factor;
  settings.velocity = parameters.plausible.velocity;
  settings.acceleration = parameters.plausible.acceleration;
  settings.patience = static_cast<int>(parameters.plausible.patience);
  return settings;
}

CallbackReturn FlexibleFeedForwardController::on_init()
{
  listener_ = std::make_shared<ParameterListener>(get_node());
  return CallbackReturn::SUCCESS;
}

CallbackReturn FlexibleFeedForwardController::on_configure(const rclcpp_lifecycle::State &)
{
  const Parameters parameters = listener_->get_params();
  std::vector<std::string> joints = parameters.joints;
  if (joints.empty()) {joints.assign(kJointNames.begin(), kJointNames.end());}
  columns_.clear();
  for (const std::string & joint : joints) {
    const std::size_t column = column_of(joint);
    if (column == kJoints || std::count(joints.begin(), joints.end(), joint) > 1) {
      RCLCPP_ERROR(
        get_node()->get_logger(), "joints: \"%s\" must be a joint of %s, and occur once",
        joint.c_str(), kRobot);
      return CallbackReturn::FAILURE;
    }
    columns_.push_back(column);
  }
  listened_ = parameters;
  damping_interfaces_ = parameters.damping.interfaces;
  position_ = parameters.state_interfaces.position;
  velocity_ = parameters.state_interfaces.velocity;
  try {
    new_settings_.write(settings_of(parameters));
  } catch (const std::invalid_argument & error) {
    RCLCPP_ERROR(get_node()->get_logger(), "%s", error.what());
    return CallbackReturn::FAILURE;
  }
  reference_timeout_ = parameters.reference_timeout;
  deactivated_at_ = Clock::time_point{};
  checks_ = get_node()->add_on_set_parameters_callback(
    [this](const std::vector<rclcpp::Parameter> & changes) {return check(changes);});
  // Parameters and reports are handled outside the real-time thread.
  timer_ = get_node()->create_wall_timer(
    std::chrono::milliseconds(50), [this]() {take_parameters(); report();});
  subscription_ = get_node()->create_subscription<trajectory_msgs::msg::JointTrajectory>(
    "~/reference", rclcpp::SystemDefaultsQoS(),
    [this](const trajectory_msgs::msg::JointTrajectory & message) {take_reference(message);});
  return CallbackReturn::SUCCESS;
}

CallbackReturn FlexibleFeedForwardController::on_cleanup(const rclcpp_lifecycle::State &)
{
  timer_.reset();
  subscription_.reset();
  checks_.reset();
  return CallbackReturn::SUCCESS;
}

rcl_interfaces::msg::SetParametersResult FlexibleFeedForwardController::check(
  const std::vector<rclcpp::Parameter> & changes) const
{
  rcl_interfaces::msg::SetParametersResult result;
  result.successful = true;
  try {
    Parameters parameters = listener_->get_params();
    for (const rclcpp::Parameter & change : changes) {put(change, parameters);}
    (void)settings_of(parameters);
  } catch (const std::exception & error) {
    result.successful = false;
    result.reason = error.what();
  }
  return result;
}

void FlexibleFeedForwardController::take_parameters()
{
  if (!listener_->is_old(listened_)) {return;}
  listened_ = listener_->get_params();
  new_settings_.write(settings_of(listened_));
  reference_timeout_ = listened_.reference_timeout;
}

void FlexibleFeedForwardController::take_reference(
  const trajectory_msgs::msg::JointTrajectory & message)
{
  Reference reference = at_rest();
  if (!message.points.empty()) {
    const auto & point = message.points.back();
    const std::array<const std::vector<double> *, 4> given{{
      &point.positions, &point.velocities, &point.accelerations, &point.effort}};
    for (std::size_t kind = 0; kind < given.size(); ++kind) {
      if (!given[kind]->empty() && given[kind]->size() != message.joint_names.size()) {
        RCLCPP_WARN_THROTTLE(
          get_node()->get_logger(), *get_node()->get_clock(), 1000,
          "ignoring a reference: its arrays must have the length of joint_names");
        return;
      }
      for (std::size_t k = 0; k < given[kind]->size(); ++k) {
        const std::size_t column = column_of(message.joint_names[k]);
        if (std::count(columns_.begin(), columns_.end(), column) > 0) {
          part_of(reference, kind)[column] = (*given[kind])[k];
        }
      }
    }
  }
  new_reference_.write(reference);
}

Reference FlexibleFeedForwardController::at_rest() const
{
  Reference reference;
  reference.q.fill(0.0);
  for (std::size_t column : columns_) {reference.q[column] = kMissing;}
  return reference;
}

void FlexibleFeedForwardController::report()
{
  const Cycle cycle = cycle_;
  if (cycle == reported_) {return;}
  reported_ = cycle;
  if (cycle == Cycle::kStale) {
    RCLCPP_ERROR(get_node()->get_logger(), "%s", text_of(cycle));
  } else {
    RCLCPP_INFO(get_node()->get_logger(), "%s", text_of(cycle));
  }
}

CallbackReturn FlexibleFeedForwardController::on_activate(const rclcpp_lifecycle::State &)
{
  bool named = command_interfaces_.size() == columns_.size() &&
    state_interfaces_.size() == 2 * columns_.size() + damping_interfaces_.size();
  for (std::size_t k = 0; named && k < columns_.size(); ++k) {
    const std::string joint = kJointNames[columns_[k]];
    named = command_interfaces_[k].get_name() == joint + "/effort" &&
      state_interfaces_[2 * k].get_name() == joint + "/" + position_ &&
      state_interfaces_[2 * k + 1].get_name() == joint + "/" + velocity_;
  }
  if (!named) {
    RCLCPP_ERROR(get_node()->get_logger(), "the interfaces must be those of the joints");
    return CallbackReturn::ERROR;
  }
  if (const ControllerSettings * settings = new_settings_.read()) {controller_.set(*settings);}
  if (Clock::now() - deactivated_at_ < kRestart) {
    write_torque();
  } else {
    controller_.begin();
    now_ = 0.0;
  }
  forget_references();
  return CallbackReturn::SUCCESS;
}

CallbackReturn FlexibleFeedForwardController::on_deactivate(const rclcpp_lifecycle::State &)
{
  for (auto & interface : command_interfaces_) {(void)interface.set_value(0.0);}
  if (cycle_ != Cycle::kSilent) {deactivated_at_ = Clock::now();}
  cycle_ = Cycle::kSilent;
  return CallbackReturn::SUCCESS;
}

InterfaceConfiguration FlexibleFeedForwardController::command_interface_configuration() const
{
  InterfaceConfiguration configuration{interface_configuration_type::INDIVIDUAL, {}};
  for (std::size_t column : columns_) {
    configuration.names.push_back(std::string(kJointNames[column]) + "/effort");
  }
  return configuration;
}

InterfaceConfiguration FlexibleFeedForwardController::state_interface_configuration() const
{
  InterfaceConfiguration configuration{interface_configuration_type::INDIVIDUAL, {}};
  for (std::size_t column : columns_) {
    configuration.names.push_back(std::string(kJointNames[column]) + "/" + position_);
    configuration.names.push_back(std::string(kJointNames[column]) + "/" + velocity_);
  }
  for (const std::string & name : damping_interfaces_) {configuration.names.push_back(name);}
  return configuration;
}

#ifdef EXPORTS_LISTS
std::vector<hardware_interface::CommandInterface::SharedPtr>
FlexibleFeedForwardController::on_export_reference_interfaces_list()
{
  std::vector<hardware_interface::CommandInterface::SharedPtr> exported;
  for (std::size_t column : columns_) {
    for (const char * name : kReferences) {
      hardware_interface::InterfaceInfo info;
      info.name = name;
      info.data_type = "double";
      const std::string prefix = std::string(get_node()->get_name()) + "/" + kJointNames[column];
      exported.push_back(
        std::make_shared<hardware_interface::CommandInterface>(
          hardware_interface::InterfaceDescription(prefix, info)));
    }
  }
  return exported;
}
#else
std::vector<hardware_interface::CommandInterface>
FlexibleFeedForwardController::on_export_reference_interfaces()
{
  std::vector<hardware_interface::CommandInterface> exported;
  reference_interfaces_.assign(columns_.size() * kReferences.size(), kMissing);
  std::size_t next = 0;
  for (std::size_t column : columns_) {
    for (const char * name : kReferences) {
      exported.emplace_back(
        get_node()->get_name(), std::string(kJointNames[column]) + "/" + name,
        &reference_interfaces_[next++]);
    }
  }
  return exported;
}
#endif

bool FlexibleFeedForwardController::on_set_chained_mode(bool)
{
  forget_references();
  return true;
}

void FlexibleFeedForwardController::forget_references()
{
#ifdef EXPORTS_LISTS
  for (auto & each : ordered_exported_reference_interfaces_) {(void)each->set_value(kMissing);}
#else
  std::fill(reference_interfaces_.begin(), reference_interfaces_.end(), kMissing);
#endif
  (void)new_reference_.read();
  reference_ = at_rest();
}

void FlexibleFeedForwardController::read_references()
{
  std::size_t next = 0;
  for (std::size_t column : columns_) {
    for (std::size_t kind = 0; kind < kReferences.size(); ++kind, ++next) {
#ifdef EXPORTS_LISTS
      const auto value = value_of(*ordered_exported_reference_interfaces_[next], 0);
      if (value) {part_of(reference_, kind)[column] = *value;}
#else
      part_of(reference_, kind)[column] = reference_interfaces_[next];
#endif
    }
  }
}

bool FlexibleFeedForwardController::read_state(MeasuredState & state) const
{
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    const auto q = value_of(state_interfaces_[2 * k], 0);
    const auto qd = value_of(state_interfaces_[2 * k + 1], 0);
    if (!q || !qd) {return false;}
    state.q[columns_[k]] = *q;
    state.qd[columns_[k]] = *qd;
  }
  std::size_t next = 2 * columns_.size();
  for (std::size_t k = 0; k < kReadings; ++k) {
    if (kReadJoint[k] < kJoints || next >= state_interfaces_.size()) {continue;}
    const auto value = value_of(state_interfaces_[next++], 0);
    state.readings[k] = value ? *value : kMissing;
  }
  return true;
}

void FlexibleFeedForwardController::write_torque()
{
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    (void)command_interfaces_[k].set_value(torque_[columns_[k]]);
  }
}

return_type FlexibleFeedForwardController::update_reference_from_subscribers(
  const rclcpp::Time &, const rclcpp::Duration & period)
{
  const double now = now_ + period.seconds();
  const double timeout = reference_timeout_;
  if (const Reference * reference = new_reference_.read()) {
    reference_ = *reference;
    received_at_ = now;
  } else if (timeout > 0.0 && now - received_at_ > timeout) {
    reference_ = at_rest();
  }
  return return_type::OK;
}

return_type FlexibleFeedForwardController::update_and_write_commands(
  const rclcpp::Time &, const rclcpp::Duration & period)
{
  now_ += std::max(period.seconds(), 0.0);
  if (const ControllerSettings * settings = new_settings_.read()) {controller_.set(*settings);}
  if (is_in_chained_mode()) {read_references();}
  MeasuredState state;
  const bool measured = read_state(state);
  const Cycle cycle = controller_.update(now_, measured ? &state : nullptr, reference_, torque_);
  cycle_ = cycle;
  if (cycle != Cycle::kSilent) {write_torque();}
  return return_type::OK;
}

}  // namespace arm_dynamics

PLUGINLIB_EXPORT_CLASS(
  arm_dynamics::FlexibleFeedForwardController, controller_interface::ChainableControllerInterface)
