#include "lapse/transport/mpi/library/mpi_library.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>

namespace lapse {

namespace {

constexpr std::array kUpToVersion4{EnvironmentSetting{"OMPI_MCA_osc", "^rdma"},
                                   EnvironmentSetting{"OMPI_MCA_btl_vader_eager_limit", "32768"}};
constexpr std::array kFromVersion5{EnvironmentSetting{"OMPI_MCA_btl_sm_eager_limit", "32768"}};
constexpr std::array kHostEagerLimits{"btl_vader_eager_limit", "btl_sm_eager_limit"};
// Open MPI's message header has 56 bytes in version 4.1; leave some space for others.
constexpr std::size_t kOpenMpiHeaderBytes = 64;

// The marks in version texts, more specific ones first: a library derived from MPICH may name it, too.
struct Mark {
  std::string_view text;
  MpiProduct product;
};
constexpr std::array kMarks{
    Mark{"Open MPI v", MpiProduct::open_mpi},
    Mark{"Intel(R) MPI Library ", MpiProduct::intel_mpi},
    Mark{"CRAY MPICH version ", MpiProduct::cray_mpich},
    Mark{"MVAPICH2 Version", MpiProduct::mvapich},
    Mark{"MVAPICH Version", MpiProduct::mvapich},
    Mark{"MPICH Version", MpiProduct::mpich},
};

// The number after blanks and colons.
std::optional<int> leading_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t:"), text.size()));
  int number = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc()) return std::nullopt;
  return number;
}

void describe_open_mpi(MpiLibrary& library) {
  const bool is_old = library.major && *library.major < 5;
  if (is_old) {
    library.settings = kUpToVersion4;
  } else if (library.major) {
    library.settings = kFromVersion5;
  }
  library.host_eager_limits = kHostEagerLimits;
  library.network_eager_limit = "btl_tcp_eager_limit";
  library.eager_header_bytes = kOpenMpiHeaderBytes;
  library.shared_folder_variable = "OMPI_MCA_osc_sm_backing_directory";
  library.windows_remedy =
      "with Open MPI 4, put OMPI_MCA_osc=^rdma into the environment before MPI_Init (mpirun --mca osc ^rdma)";
  library.shared_windows_remedy = "with Open MPI, let OMPI_MCA_osc (mpirun --mca osc) contain sm";
}

}  // namespace

MpiLibrary mpi_library_of(std::string_view version_text) {
  MpiLibrary library;
  for (const Mark& mark : kMarks) {
    const std::size_t at = version_text.find(mark.text);
    if (at == std::string_view::npos) continue;
    library.product = mark.product;
    library.major = leading_number(version_text.substr(at + mark.text.size()));
    break;
  }
  if (library.product == MpiProduct::open_mpi) {
    library.family = MpiFamily::open_mpi;
    describe_open_mpi(library);
  } else if (library.product != MpiProduct::unknown) {
    library.family = MpiFamily::mpich;  // All others derive from it.
    library.reserved_error_codes = 1;
  }
  return library;
}

std::string loaded_library() {
  // More than any library's MPI_MAX_LIBRARY_VERSION_STRING: 256 in Open MPI, 8192 in MPICH.
  constexpr std::size_t kBytes = std::size_t{16} << 10;
  static_assert(MPI_MAX_LIBRARY_VERSION_STRING <= kBytes);
  std::string text(kBytes, '\0');
  int length = 0;
  if (MPI_Get_library_version(text.data(), &length) != MPI_SUCCESS) return {};
  text.resize(text.find('\0'));
  return text;
}

const MpiLibrary& mpi_library() {
  static const MpiLibrary library = mpi_library_of(loaded_library());
  return library;
}

}  // namespace lapse
