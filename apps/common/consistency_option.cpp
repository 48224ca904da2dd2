#include "apps/common/consistency_option.hpp"

#include <fmt/format.h>

#include <string>

#include "lapse/core/error.hpp"

namespace lapse::apps {

CLI::Option* add_consistency(CLI::App& app, std::optional<Consistency>& consistency,
                             const std::string& clock) {
  return app
      .add_option_function<std::string>(
          "--consistency",
          [&consistency](const std::string& text) {
            try {
              consistency = Consistency::parse(text);
            } catch (const ConfigurationError& error) {
              throw CLI::ValidationError("--consistency", error.what());
            }
          },
          fmt::format(
              "How old the updates of others may be that a worker does not see yet: eventual, cap(s), by s "
              "clocks, bsp, which is cap(0), ssp(s), without replicas, essp(s), with replicas of all that is "
              "accessed, vap(v), by changes of v, vap(v, strong), by those of all workers, cvap(s, v), "
              "cvap(s, "
              "v, strong), or sequential, where keys only move; a clock is {}",
              clock))
      ->type_name("");
}

}  // namespace lapse::apps
