// SPDX-License-Identifier: Apache-2.0
// Differences between the releases of ros2_control.
#ifndef INTERFACES_HPP_
#define INTERFACES_HPP_

#include <optional>

namespace arm_dynamics
{

/// Return the value of a handle, where it can be had without waiting.
template<class Handle>
auto value_of(const Handle & handle, int) -> std::optional<
  typename decltype(handle.template get_optional<double>())::value_type>
{
  return handle.template get_optional<double>();
}

template<class Handle>
std::optional<double> value_of(const Handle & handle, long)  // NOLINT(runtime/int)
{
  return handle.get_value();
}

}  // namespace arm_dynamics

#endif  // INTERFACES_HPP_
