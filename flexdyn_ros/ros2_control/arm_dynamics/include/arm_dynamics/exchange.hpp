// SPDX-License-Identifier: Apache-2.0
// Passes the newest value from one thread to another without locks or allocation.
#ifndef ARM_DYNAMICS__EXCHANGE_HPP_
#define ARM_DYNAMICS__EXCHANGE_HPP_

#include <array>
#include <atomic>
#include <cstddef>

namespace arm_dynamics
{

/// A triple buffer: one thread writes, one reads.
template<class T>
class Exchange
{
public:
  void write(const T & value) noexcept
  {
    slots_[writing_] = value;
    writing_ = middle_.exchange(writing_ | kNew, std::memory_order_acq_rel) & ~kNew;
  }

  /// Return the newest value, or null where it has been read before.
  const T * read() noexcept
  {
    if ((middle_.load(std::memory_order_relaxed) & kNew) == 0) {return nullptr;}
    reading_ = middle_.exchange(reading_, std::memory_order_acq_rel) & ~kNew;
    return &slots_[reading_];
  }

private:
  static constexpr std::size_t kNew = 4;

  std::array<T, 3> slots_{};
  std::size_t writing_ = 0, reading_ = 1;
  std::atomic<std::size_t> middle_{2};
};

}  // namespace arm_dynamics

#endif  // ARM_DYNAMICS__EXCHANGE_HPP_
