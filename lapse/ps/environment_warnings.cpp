#include "lapse/ps/environment_warnings.hpp"

#include <atomic>
#include <optional>
#include <string>

#include "lapse/core/option_table.hpp"
#include "lapse/core/topology.hpp"

namespace lapse {

namespace {

void warn_once(Logger& logger, std::atomic<bool>& warned, const std::optional<std::string>& warning) {
  if (warning && !warned.exchange(true)) logger.warning("{}", *warning);
}

}  // namespace

void warn_of_environment(Logger& logger, const Options& options, const Transport::Job& job) {
  static std::atomic<bool> warned_of_variables{false};
  static std::atomic<bool> warned_of_being_alone{false};
  if (job.rank == Rank(0)) warn_once(logger, warned_of_variables, ignored_variables_warning(options));
  if (options.startup_report) warn_once(logger, warned_of_being_alone, lone_rank_warning(job.ranks));
}

}  // namespace lapse
