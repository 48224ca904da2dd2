#include "lapse/c/push_limits.hpp"

#include <fmt/format.h>

#include <array>

#include "lapse/c/status.hpp"

namespace lapse::c {

void set_limits(TableOptions& options, const lapse_push_limits* limits) {
  if (limits == nullptr) return;
  check_size(*limits, "lapse_push_limits");
  if (limits->not_finite < LAPSE_NOT_FINITE_ALLOW || limits->not_finite > LAPSE_NOT_FINITE_REFUSE) {
    throw ConfigurationError(
        fmt::format("not_finite is {}: expected LAPSE_NOT_FINITE_ALLOW, _COUNT or _REFUSE",
                    static_cast<int>(limits->not_finite)));
  }
  constexpr std::array kChoices{NotFinite::allow, NotFinite::count, NotFinite::refuse};
  options.not_finite = kChoices[static_cast<std::size_t>(limits->not_finite)];
  if (limits->max_norm != 0) options.max_push_norm = limits->max_norm;
}

}  // namespace lapse::c

void lapse_push_limits_init(lapse_push_limits* limits) {
  if (limits == nullptr) return;
  *limits = {.size = sizeof *limits, .not_finite = LAPSE_NOT_FINITE_ALLOW, .max_norm = 0};
}
