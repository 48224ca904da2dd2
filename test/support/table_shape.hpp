// What the keys and values of a table in a test are like.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lapse/core/random.hpp"
#include "lapse/core/types.hpp"
#include "lapse/ps/table.hpp"

namespace lapse::test {

// Histories number the keys 0 to keys - 1; in a sparse table their names are scattered over 64 bits.
struct TableShape {
  std::uint64_t keys = 1;
  bool sparse = false;
  bool own_lengths = false;  // values of different keys have different lengths

  Key name(Key number) const { return sparse ? Key(mix_bits(number.value() + 1)) : number; }
  // How many times as long as the shortest the value of a key is. By its name, as servers know it.
  std::size_t width(Key name) const { return own_lengths ? 1 + mix_bits(name.value() + 7) % 3 : 1; }

  // Fills keys, sparse and lengths; `shortest` elements is the shortest value.
  void apply(TableOptions& options, std::size_t shortest) const {
    options.keys = sparse ? 0 : keys;
    options.sparse = sparse;
    if (sparse) {
      // As little memory as is needed: tests make many tables.
      options.max_keys = keys;
      options.memory_limit_bytes = std::uint64_t{1} << 22;
    }
    options.length = shortest;
    if (own_lengths)
      options.lengths = [shape = *this, shortest](Key key) { return shortest * shape.width(key); };
  }
};

}  // namespace lapse::test
