// Warnings of suspicious settings in the environment of this process.
#pragma once

#include "lapse/core/log.hpp"
#include "lapse/core/options.hpp"
#include "lapse/transport/transport.hpp"

namespace lapse {

// Logs warnings: of ignored LAPSE_* variables, by the first process of the job; and of a process that is the
// only one of its job although a launcher started several. Only the first server of a process warns.
void warn_of_environment(Logger& logger, const Options& options, const Transport::Job& job);

}  // namespace lapse
