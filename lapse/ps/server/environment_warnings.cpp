#include "lapse/ps/server/environment_warnings.hpp"

#include "lapse/core/options/option_states.hpp"
#include "lapse/core/process/topology.hpp"

namespace lapse {

void warn_of_environment(Logger& logger, const Options& options, const Transport::Job& job) {
  if (!job.first_server) return;
  if (job.rank == Rank(0)) {
    if (const auto warning = ignored_variables_warning(options)) logger.warning("{}", *warning);
  }
  if (options.startup_report) {
    if (const auto warning = lone_rank_warning(job.ranks)) logger.warning("{}", *warning);
  }
}

}  // namespace lapse
