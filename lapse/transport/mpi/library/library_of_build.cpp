#include "lapse/transport/mpi/library/library_of_build.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <string>
#include <string_view>

#include "lapse/core/error.hpp"
#include "lapse/transport/mpi/library/lock.hpp"
#include "lapse/transport/mpi/library/mpi_library.hpp"

namespace lapse {

namespace {

#if defined(OPEN_MPI)
constexpr MpiFamily kFamilyOfBuild = MpiFamily::open_mpi;
constexpr const char* kNameOfBuild = "Open MPI";
#elif defined(MPICH_NAME)
constexpr MpiFamily kFamilyOfBuild = MpiFamily::mpich;
constexpr const char* kNameOfBuild = "MPICH";
#else
constexpr MpiFamily kFamilyOfBuild = MpiFamily::unknown;
constexpr const char* kNameOfBuild = "another library";
#endif

}  // namespace

void require_library_of_build() {
  const std::string loaded = loaded_library();
  std::string_view version = loaded;
  const MpiFamily running = mpi_library_of(version).family;
  if (running == kFamilyOfBuild || running == MpiFamily::unknown || kFamilyOfBuild == MpiFamily::unknown)
    return;
  version = version.substr(0, version.find_first_of(",\n"));
  throw MpiStateError(
      fmt::format("lapse was built with {}, and this process has loaded {}: build the program with the MPI "
                  "library of lapse, or lapse with that of the program",
                  kNameOfBuild, version));
}

void require_usable_library() {
  require_library_of_build();
  mpi_role.assert_held();  // If MPI can be used, the caller guarantees that no other thread is inside.
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (!initialized) {
    throw MpiStateError(
        "MPI is not initialised: call MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided) first, "
        "best after lapse::prepare_mpi_environment() (C and Fortran: lapse_prepare_mpi_environment)");
  }
  if (finalized) throw MpiStateError("MPI is already finalized: make parameter servers before MPI_Finalize");
}

}  // namespace lapse
