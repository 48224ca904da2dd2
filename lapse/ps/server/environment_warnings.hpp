// What looks wrong about the environment of this process.
#pragma once

#include "lapse/core/log.hpp"
#include "lapse/core/options.hpp"
#include "lapse/transport/transport.hpp"

namespace lapse {

// Logs warnings: of variables LAPSE_* that were ignored, by the first process of the job; and of a process
// that is the only one of its job although a launcher started several. The first server of a process warns.
void warn_of_environment(Logger& logger, const Options& options, const Transport::Job& job);

}  // namespace lapse
