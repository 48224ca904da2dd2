#include "apps/common/held_out_overlap.hpp"

#include <fmt/format.h>

namespace lapse::apps {

std::string overlap_text(std::size_t found, std::size_t looked_at, std::size_t held_out,
                         std::string_view noun) {
  if (found == 0 || 2 * found < looked_at) return {};
  return fmt::format("{} of {} {}{} are training {}, too: what is measured with them is not what is held out",
                     found, looked_at, noun, looked_at < held_out ? " that were looked at" : "", noun);
}

}  // namespace lapse::apps
