// The file of options that all ranks use.
#pragma once

#include <mpi.h>

#include "lapse/core/export.hpp"
#include "lapse/core/option_sources.hpp"

namespace lapse {

// Collective over `communicator`. Rank 0 reads the options file that its environment names and sends it to
// all ranks, so only rank 0 needs the file. Returns an empty OptionsFile if MPI cannot be used or there is no
// communicator: creating an instance then reports the problem. Throws MpiError.
LAPSE_EXPORT_INNER OptionsFile shared_options_file(MPI_Comm communicator);

}  // namespace lapse
