// How the homes of a table's keys are chosen.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "lapse/core/export.hpp"
#include "lapse/core/types.hpp"

namespace lapse {

enum class HomeMapKind : std::uint8_t {
  hash,  // every run of D consecutive keys is spread over the D domains in a mixed order: balanced to one key
  range,   // consecutive keys, in blocks of ceil(K / D)
  custom,  // a user's function
};

LAPSE_EXPORT std::string_view home_map_name(HomeMapKind kind);

// f(key): a number that identifies the key's home. It must be pure and the same on every rank.
using HomeFunction = std::function<std::int32_t(Key)>;

}  // namespace lapse
