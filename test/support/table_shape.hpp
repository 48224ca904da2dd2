// The keys and value lengths of a table in a test.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lapse/core/random.hpp"
#include "lapse/core/types.hpp"
#include "lapse/ps/table.hpp"

namespace lapse::test {

// Histories number the keys 0 to keys - 1. In a sparse table the keys' names are scattered over 64 bits.
struct TableShape {
  std::uint64_t keys = 1;
  bool sparse = false;
  bool own_lengths = false;  // values of different keys have different lengths

  Key name(Key number) const { return sparse ? Key(mix_bits(number.value() + 1)) : number; }
  // The length of a key's value as a multiple of the shortest length. The key is given by its name, as
  // servers store it.
  std::size_t width(Key name) const { return own_lengths ? 1 + mix_bits(name.value() + 7) % 3 : 1; }

  // Sets keys, sparse and lengths; the shortest value has `shortest` elements.
  void apply(TableOptions& options, std::size_t shortest) const {
    options.keys = sparse ? 0 : keys;
    options.sparse = sparse;
    if (sparse) {
      // As little memory as possible: tests make many tables.
      options.max_keys = keys;
      options.memory_limit_bytes = std::uint64_t{1} << 22;
    }
    options.length = shortest;
    if (own_lengths)
      options.lengths = [shape = *this, shortest](Key key) { return shortest * shape.width(key); };
  }
};

}  // namespace lapse::test
