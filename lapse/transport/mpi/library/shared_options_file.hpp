// The file of options that all ranks use.
#pragma once

#include <mpi.h>

#include "lapse/core/export.hpp"
#include "lapse/core/option_sources.hpp"

namespace lapse {

// Collective over `communicator`: rank 0 reads the file that its environment names, and all ranks get it, so
// the file need not be where they are. Nothing where MPI cannot be used, or there is no communicator: what
// makes an instance of it then says what is wrong. Throws MpiError.
LAPSE_EXPORT_INNER OptionsFile shared_options_file(MPI_Comm communicator);

}  // namespace lapse
