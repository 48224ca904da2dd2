#include "lapse/core/error.hpp"

#include <fmt/format.h>

namespace lapse {

KeyOutOfRange::KeyOutOfRange(std::string_view table, Key key, std::uint64_t keys, Rank rank)
    : UsageError(
          fmt::format("key {} of table '{}' is out of range on rank {}: the table has the keys 0 to {}",
                      key.value(), table, rank.value(), keys == 0 ? 0 : keys - 1)) {}

LengthMismatch::LengthMismatch(std::string_view table, std::string_view what, std::size_t given,
                               std::size_t expected, Rank rank)
    : UsageError(fmt::format("{} for table '{}' have {} elements on rank {}: expected {}", what, table, given,
                             rank.value(), expected)) {}

PeerFailed::PeerFailed(Rank origin, std::string text)
    : Error(fmt::format("rank {} failed: {}", origin.value(), text)),
      origin_(origin),
      text_(std::move(text)) {}

UserCodeFailed::UserCodeFailed(std::string_view table, Key key, Rank where, std::string text)
    : Error(fmt::format("code of the application failed for key {} of table '{}' on rank {}: {}", key.value(),
                        table, where.value(), text)),
      key_(key),
      where_(where),
      text_(std::move(text)) {}

}  // namespace lapse
