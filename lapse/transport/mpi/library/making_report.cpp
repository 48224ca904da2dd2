#include "lapse/transport/mpi/library/making_report.hpp"

#include "lapse/core/error.hpp"
#include "lapse/core/log.hpp"
#include "lapse/core/option_sources.hpp"

namespace lapse {

MakingReport MakingReport::from_environment() {
  try {
    const Options options = Options::from_environment(OptionSources({}));
    return {.after = options.stall_report, .level = options.log_level};
  } catch (const ConfigurationError&) {  // The server will throw it on all ranks.
    return {.after = Options{}.stall_report};
  }
}

WhileWaiting MakingReport::by(Rank rank) const {
  if (after == std::chrono::seconds(0)) return {};
  return [*this, rank, logged = false](std::chrono::steady_clock::duration waited) mutable {
    if (logged || waited < after) return;
    logged = true;
    Logger(rank, level)
        .warning(
            "rank {} has waited for {} s in the making of a server for ranks that do not make it: "
            "they compute or wait before their call, have taken another way through the program, or are "
            "stopped\n  what this means, and what to look at: docs/stalls.md",
            rank.value(), after.count());
  };
}

}  // namespace lapse
