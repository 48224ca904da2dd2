// Values in plain arrays, as in a program without a server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lapse/core/types.hpp"

namespace lapse::bench {

// Rows of equally many floats, twice: plain rows to read, and rows with a latch in front to add to. The latch
// is in the row because no other position is faster: it is in a cache line of the value. Loops are compiled
// for the lengths 1, 25, 256, 1024 and 10,240, like those of a program for one model.
//
// Thread safety: gather and add by any thread.
class PlainRows {
 public:
  // Throws UsageError for other lengths.
  PlainRows(std::uint64_t rows, std::size_t length);

  std::size_t length() const { return length_; }

  // Copies the rows of the keys into `values`, one after the other.
  void gather(std::span<const Key> keys, std::span<float> values) const {
    gather_(rows_.data(), keys, values.data());
  }
  // Adds the rows of `updates` to those of the keys, each under its latch.
  void add(std::span<const Key> keys, std::span<const float> updates) {
    add_(latched_rows_.data(), keys, updates.data());
  }

 private:
  template <std::size_t length>
  void use_length();

  std::size_t length_;
  std::vector<float> rows_;
  std::vector<float> latched_rows_;  // each: latch (0: free), then values
  void (*gather_)(const float* rows, std::span<const Key> keys, float* values) = nullptr;
  void (*add_)(float* rows, std::span<const Key> keys, const float* updates) = nullptr;
};

}  // namespace lapse::bench
