// Whether the MPI library of this process is the one that this library was built with.
#pragma once

#include <string_view>

#include "lapse/core/export.hpp"

namespace lapse {

// Libraries of one family share their handles: what is compiled with one may run with another.
enum class MpiFamily { open_mpi, mpich, unknown };

// Of the library with this text of MPI_Get_library_version.
MpiFamily family_of_library(std::string_view version_text);

// Throws MpiStateError where the process has loaded a library of another family: a communicator then means
// nothing here, so this is called before one is looked at. May be called at any time, by any thread.
LAPSE_EXPORT_INNER void require_library_of_build();

}  // namespace lapse
