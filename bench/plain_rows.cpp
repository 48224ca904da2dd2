#include "bench/plain_rows.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstring>

#include "lapse/core/error.hpp"

namespace lapse::bench {

namespace {

template <std::size_t length>
void gather(const float* rows, std::span<const Key> keys, float* values) {
  for (const Key key : keys) {
    std::memcpy(values, rows + key.index() * length, length * sizeof(float));
    values += length;
  }
}

template <std::size_t length>
void add(float* rows, std::span<const Key> keys, const float* updates) {
  for (const Key key : keys) {
    float* const row = rows + key.index() * (length + 1);
    float* __restrict const values = row + 1;
    const std::atomic_ref<float> latch(*row);
    while (latch.exchange(1.0F, std::memory_order_acquire) != 0.0F) {
      while (latch.load(std::memory_order_relaxed) != 0.0F) {
      }
    }
    for (std::size_t i = 0; i < length; ++i) values[i] += updates[i];
    latch.store(0.0F, std::memory_order_release);
    updates += length;
  }
}

}  // namespace

PlainRows::PlainRows(std::uint64_t rows, std::size_t length)
    : length_(length), rows_(rows * length), latched_rows_(rows * (length + 1)) {
  if (length == 1) use_length<1>();
  if (length == 25) use_length<25>();
  if (length == 256) use_length<256>();
  if (length == 1024) use_length<1024>();
  if (length == 10'240) use_length<10'240>();
  if (gather_ == nullptr) throw UsageError(fmt::format("plain rows of {} floats: no loops for it", length));
}

template <std::size_t length>
void PlainRows::use_length() {
  gather_ = &bench::gather<length>;
  add_ = &bench::add<length>;
}

}  // namespace lapse::bench
