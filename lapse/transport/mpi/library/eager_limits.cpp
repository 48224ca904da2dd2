#include "lapse/transport/mpi/library/eager_limits.hpp"

#include <mpi.h>

#include <algorithm>

#include "lapse/transport/mpi/library/mpi_library.hpp"

namespace lapse {

namespace {

// The value of an unsigned control variable of the MPI library. Requires the tools interface.
std::optional<std::size_t> read_control_variable(const char* name) {
  int index = 0;
  if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS) return std::nullopt;
  MPI_T_cvar_handle handle = nullptr;
  int count = 0;
  if (MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) != MPI_SUCCESS) return std::nullopt;
  // Wide enough for every integer type; the unused bytes stay zero on the little-endian machines supported.
  unsigned long long value[8] = {};
  const bool read = count == 1 && MPI_T_cvar_read(handle, value) == MPI_SUCCESS;
  MPI_T_cvar_handle_free(&handle);
  if (!read) return std::nullopt;
  return static_cast<std::size_t>(value[0]);
}

struct EagerLimits {
  std::optional<std::size_t> smallest;
  std::optional<std::size_t> tcp;
};

EagerLimits read_eager_limits() {
  // Open MPI 4.1 takes the level given here as the thread level of all of MPI, so pass the current one.
  int level = MPI_THREAD_SINGLE;
  int provided = MPI_THREAD_SINGLE;
  EagerLimits limits;
  const MpiLibrary& library = mpi_library();
  if (library.network_eager_limit == nullptr) return limits;
  if (MPI_Query_thread(&level) != MPI_SUCCESS) return limits;
  if (MPI_T_init_thread(level, &provided) != MPI_SUCCESS) return limits;
  // Excluded components have no variable; TCP has one even if UCX or libfabric takes its place.
  limits.tcp = limits.smallest = read_control_variable(library.network_eager_limit);
  for (const char* name : library.host_eager_limits) {
    const std::optional<std::size_t> one = read_control_variable(name);
    if (one) limits.smallest = std::min(*one, limits.smallest.value_or(*one));
  }
  MPI_T_finalize();
  return limits;
}

const EagerLimits& eager_limits() {
  // Reading the limits loads every component of the MPI library, which takes 0.2 s; they do not change.
  static const EagerLimits limits = read_eager_limits();
  return limits;
}

std::optional<std::size_t> without_header(std::optional<std::size_t> limit) {
  const std::size_t header = mpi_library().eager_header_bytes;
  if (!limit || *limit <= header) return std::nullopt;
  return *limit - header;
}

}  // namespace

std::optional<std::size_t> eager_message_bytes() {
  return without_header(eager_limits().smallest);
}

std::optional<std::size_t> eager_network_bytes() {
  return without_header(eager_limits().tcp);
}

}  // namespace lapse
