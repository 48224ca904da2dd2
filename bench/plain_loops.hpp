// Hand-written loops over rows of plain arrays. `position` gives the position of a key's row.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>

#include "lapse/core/types.hpp"

namespace lapse::bench {

// Copies the rows of the keys to `values`, one after the other.
template <std::size_t length, class Position>
void gather_rows(const float* rows, std::span<const Key> keys, const Position& position, float* values) {
  for (const Key key : keys) {
    std::memcpy(values, rows + position(key) * length, length * sizeof(float));
    values += length;
  }
}

// Copies `values` to the rows of the keys.
template <std::size_t length, class Position>
void scatter_rows(float* rows, std::span<const Key> keys, const Position& position, const float* values) {
  for (const Key key : keys) {
    std::memcpy(rows + position(key) * length, values, length * sizeof(float));
    values += length;
  }
}

// Adds `updates` to the rows of the keys.
template <std::size_t length, class Position>
void add_to_rows(float* rows, std::span<const Key> keys, const Position& position, const float* updates) {
  for (const Key key : keys) {
    float* __restrict const row = rows + position(key) * length;
    for (std::size_t i = 0; i < length; ++i) row[i] += updates[i];
    updates += length;
  }
}

// Writes new updates, like an application that computes them before each push, so that the receiver's caches
// do not have the previous ones.
inline void renew_updates(std::span<float> updates) {
  for (float& update : updates) update += 1.0F;
}

}  // namespace lapse::bench
