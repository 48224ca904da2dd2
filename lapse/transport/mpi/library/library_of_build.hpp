// Whether the MPI library of this process is the one that this library was built with.
#pragma once

#include "lapse/core/export.hpp"

namespace lapse {

// Throws MpiStateError where the process has loaded a library of another family: a communicator then means
// nothing here, so this is called before one is looked at. May be called at any time, by any thread.
LAPSE_EXPORT_INNER void require_library_of_build();
// The same, and throws MpiStateError where MPI is not initialised or is finalized: before the number of a
// communicator of Fortran is converted, for which libraries end the process then.
LAPSE_EXPORT_INNER void require_usable_library();

}  // namespace lapse
