// SPDX-License-Identifier: Apache-2.0
// The class of a written package as plain functions, for ctypes.
#include <algorithm>
#include <string>

#include "my_arm/arm_controller.hpp"
#include "my_arm/arm_simulator.hpp"

namespace arm = my_arm;

namespace
{

arm::ControllerSettings settings;
arm::ArmController controller;
arm::FeedForward feed_forward;
arm::ArmSimulator simulator;
arm::Readings readings{};

template<class Array>
void take(const double * values, Array & array)
{
  std::copy_n(values, array.size(), array.begin());
}

}  // namespace

extern "C" {

void set_models(int model, int gravity, int friction, int link_side)
{
  settings.feed_forward.model = static_cast<arm::TorqueModel>(model);
  settings.feed_forward.gravity_compensated = gravity != 0;
  settings.feed_forward.friction_compensated = friction != 0;
  settings.feed_forward.link_side = link_side != 0;
}

void set_loads(const double * gravity, const double * payload)
{
  take(gravity, settings.gravity);
  take(payload, settings.payload);
  feed_forward.arm.gravity = settings.gravity;
  feed_forward.arm.payload = settings.payload;
}

void set_gains(const double * kp, const double * kd, const double * limit, const double * effort)
{
  take(kp, settings.kp);
  take(kd, settings.kd);
  take(limit, settings.pd_limit);
  take(effort, settings.effort_limit);
}

void set_shaping(double soft_start, double rate, double change)
{
  settings.shaping = arm::ShapingSettings{soft_start, rate, change};
}

void set_policy(int policy, double gravity_time, double ramp_time)
{
  settings.stale_policy = static_cast<arm::StalePolicy>(policy);
  settings.stale_gravity_time = gravity_time;
  settings.stale_ramp_time = ramp_time;
}

void set_damping(int on, const double * limit)
{
  settings.damping = on != 0;
  take(limit, settings.damping_limit);
}

void set_readings(const double * values)
{
  take(values, readings);
}

int damps(void) {return controller.damps() ? 1 : 0;}

void apply(void) {controller.set(settings);}
void begin(void) {controller.begin();}
void reset(void) {feed_forward.reset();}

int update(double now, const double * state, const double * reference, double * torque)
{
  constexpr std::size_t n = arm::kJoints;
  arm::MeasuredState measured;
  if (state != nullptr) {
    take(state, measured.q);
    take(state + n, measured.qd);
    measured.readings = readings;
  }
  arm::Reference desired;
  take(reference, desired.q);
  take(reference + n, desired.qd);
  take(reference + 2 * n, desired.qdd);
  take(reference + 3 * n, desired.effort);
  arm::JointVector out{};
  std::copy_n(torque, n, out.begin());
  const arm::Cycle cycle =
    controller.update(now, state == nullptr ? nullptr : &measured, desired, out);
  std::copy(out.begin(), out.end(), torque);
  return static_cast<int>(cycle);
}

int feed(double time, const double * motion, double * torque)
{
  arm::JointMotion given;
  take(motion, given.q);
  take(motion + arm::kJoints, given.qd);
  take(motion + 2 * arm::kJoints, given.qdd);
  arm::JointVector out{};
  const bool found = feed_forward.torque(settings.feed_forward, time, given, out);
  std::copy(out.begin(), out.end(), torque);
  return found ? 1 : 0;
}

/// Stand at joint positions, then move under torques; write coordinates and velocities.
void simulate(
  const double * start, const double * torque, double interval, double step, double * end)
{
  arm::JointVector joints{}, effort{};
  take(start, joints);
  take(torque, effort);
  simulator.stand(joints);
  simulator.advance(effort, interval, step);
  std::copy(simulator.q.begin(), simulator.q.end(), end);
  std::copy(simulator.qd.begin(), simulator.qd.end(), end + simulator.q.size());
}

}  // extern "C"
