#include "lapse/core/index_out_of_range.hpp"

#include <fmt/format.h>

namespace lapse {

IndexOutOfRange::IndexOutOfRange(std::string_view table, Key key, std::uint32_t index, std::size_t length,
                                 Rank where)
    : UsageError(fmt::format("index {} of key {} of table '{}' is out of range on rank {}: the value has {} "
                             "elements; nothing of the call was applied",
                             index, key.value(), table, where.value(), length)),
      key_(key),
      index_(index),
      length_(length),
      where_(where) {}

}  // namespace lapse
