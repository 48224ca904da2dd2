// Whether the MPI library of this process is the one that this library was built with.
#pragma once

#include "lapse/core/export.hpp"

namespace lapse {

// Throws MpiStateError if the process has loaded a library of another family. Its communicators have no
// meaning here, so call this before using one. Any thread, at any time.
LAPSE_EXPORT_INNER void require_library_of_build();
// Like require_library_of_build; also throws MpiStateError if MPI is not initialised or is finalized. Call it
// before converting a Fortran communicator: libraries end the process for that.
LAPSE_EXPORT_INNER void require_usable_library();

}  // namespace lapse
