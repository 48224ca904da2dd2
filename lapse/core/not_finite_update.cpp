#include "lapse/core/not_finite_update.hpp"

#include <fmt/format.h>

namespace lapse {

NotFiniteUpdate::NotFiniteUpdate(std::string_view call, std::string_view table, Key key, std::size_t element,
                                 double value, Rank where)
    : UsageError(fmt::format(
          "{} to key {} of table '{}' on rank {}: element {} is {}, and the table refuses what is not "
          "finite; nothing of the call was applied",
          call, key.value(), table, where.value(), element, value)),
      key_(key),
      element_(element),
      where_(where) {}

}  // namespace lapse
