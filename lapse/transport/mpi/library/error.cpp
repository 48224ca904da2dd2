#include "lapse/transport/mpi/library/error.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "lapse/core/error.hpp"

namespace lapse {

void throw_mpi_error(int code, const char* call) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) {
    throw MpiError(fmt::format("{} failed with the unknown error code {}", call, code));
  }
  throw MpiError(
      fmt::format("{} failed: {}", call, std::string_view(text.data(), static_cast<std::size_t>(length))));
}

}  // namespace lapse
