#include "lapse/ps/groups.hpp"

#include <fmt/format.h>

#include <utility>

namespace lapse {

GroupFailed::GroupFailed(Rank origin, std::string text)
    : Error(fmt::format("the group of workers has failed on rank {}: {}", origin.value(), text)),
      origin_(origin),
      text_(std::move(text)) {}

}  // namespace lapse
