// SPDX-License-Identifier: Apache-2.0
// A million cycles of the controller: none allocates; the longest one is printed.
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "arm_dynamics/arm_controller.hpp"

namespace
{

bool counting = false;
long allocations = 0;  // NOLINT(runtime/int)

template<class Function>
Function original(const char * name)
{
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" void * malloc(std::size_t size)
{
  static const auto next = original<void * (*)(std::size_t)>("malloc");
  allocations += counting ? 1 : 0;
  return next(size);
}

extern "C" void * realloc(void * old, std::size_t size)
{
  static const auto next = original<void * (*)(void *, std::size_t)>("realloc");
  allocations += counting ? 1 : 0;
  return next(old, size);
}

namespace
{

using arm_dynamics::Cycle;
using arm_dynamics::kJoints;

/// Run cycles of 1 ms with a model; return whether none allocated and the torques were limited.
bool run(const char * name, arm_dynamics::TorqueModel model, long cycles)  // NOLINT(runtime/int)
{
  using Clock = std::chrono::steady_clock;
  arm_dynamics::ControllerSettings settings;
  settings.feed_forward.model = model;
  settings.kp = arm_dynamics::filled(10.0);
  settings.kd = arm_dynamics::filled(1.0);
  settings.effort_limit = arm_dynamics::filled(1e4);
  settings.stale_ramp_time = 0.5;
  static arm_dynamics::ArmController controller;
  controller.set(settings);
  controller.begin();
  arm_dynamics::MeasuredState state;
  arm_dynamics::Reference reference;
  arm_dynamics::JointVector torque{};
  double longest = 0.0;
  bool limited = true;
  long seen[4] = {0, 0, 0, 0};  // NOLINT(runtime/int)
  allocations = 0;
  counting = true;
  for (long cycle = 0; cycle < cycles; ++cycle) {  // NOLINT(runtime/int)
    const double now = 1e-3 * static_cast<double>(cycle);
    const bool missing = cycle % 10000 < 500, faulty = cycle % 10000 > 9800;
    for (std::size_t k = 0; k < kJoints; ++k) {
      const double phase = 3.0 * now + static_cast<double>(k);
      state.q[k] = reference.q[k] = 0.2 * std::sin(phase);
      state.qd[k] = reference.qd[k] = 0.6 * std::cos(phase);
      reference.qdd[k] = -1.8 * std::sin(phase);
      if (missing) {reference.q[k] = std::nan("");}
      if (faulty) {state.q[k] = std::nan("");}
    }
    const auto start = Clock::now();
    const Cycle result = controller.update(now, &state, reference, torque);
    const std::chrono::duration<double> took = Clock::now() - start;
    longest = std::max(longest, took.count());
    ++seen[static_cast<int>(result)];
    for (double each : torque) {limited = limited && std::fabs(each) <= 1e4;}
  }
  counting = false;
  const bool right = allocations == 0 && limited && seen[3] == 0 && seen[0] > 0 && seen[1] > 0 &&
    seen[2] > 0;
  std::printf(
    "%s %s: %ld cycles (%ld tracking, %ld holding, %ld stale), %ld allocations, longest %.1f us\n",
    right ? "ok  " : "FAIL", name, cycles, seen[0], seen[1], seen[2], allocations, longest * 1e6);
  return right;
}

}  // namespace

int main(int argc, char ** argv)
{
  const long cycles = argc > 1 ? std::atol(argv[1]) : 1000000;  // NOLINT(runtime/int)
  // The interception works: this allocation is counted.
  counting = true;
  void * volatile block = std::malloc(1);
  counting = false;
  std::free(block);
  bool right = allocations == 1;
  right = run("gravity", arm_dynamics::TorqueModel::kGravity, cycles) && right;
  right = run("rigid", arm_dynamics::TorqueModel::kRigid, cycles) && right;
  right = run("quasi-static", arm_dynamics::TorqueModel::kQuasiStatic, cycles) && right;
  right = run("hybrid", arm_dynamics::TorqueModel::kHybrid, cycles) && right;
  return right ? 0 : 1;
}
