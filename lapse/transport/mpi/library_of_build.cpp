#include "lapse/transport/mpi/library_of_build.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <array>
#include <cstddef>

#include "lapse/core/error.hpp"

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

MpiFamily family_of_library(std::string_view version_text) {
  if (version_text.starts_with("Open MPI")) return MpiFamily::open_mpi;
  for (const std::string_view name : {"MPICH", "MVAPICH", "Intel(R) MPI"})
    if (version_text.find(name) != std::string_view::npos) return MpiFamily::mpich;
  return MpiFamily::unknown;
}

void require_library_of_build() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  if (MPI_Get_library_version(text.data(), &length) != MPI_SUCCESS) return;
  std::string_view version(text.data());
  const MpiFamily running = family_of_library(version);
  if (running == kFamilyOfBuild || running == MpiFamily::unknown || kFamilyOfBuild == MpiFamily::unknown)
    return;
  version = version.substr(0, version.find_first_of(",\n"));
  throw MpiStateError(
      fmt::format("lapse was built with {}, and this process has loaded {}: build the program with the MPI "
                  "library of lapse, or lapse with that of the program",
                  kNameOfBuild, version));
}

}  // namespace lapse
