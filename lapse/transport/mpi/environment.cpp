#include "lapse/transport/mpi/environment.hpp"

#include <cstdlib>

#include "lapse/transport/mpi/library/mpi_library.hpp"

namespace lapse {

void prepare_mpi_environment() {
  constexpr int kKeepExisting = 0;
  for (const EnvironmentSetting& setting : mpi_library().settings)
    ::setenv(setting.variable, setting.value, kKeepExisting);
}

}  // namespace lapse
