// A program with the shared library that loads a plugin with its own copy of the library. Both call MPI.
#include <dlfcn.h>

#include <array>
#include <cstdio>
#include <string>
#include <thread>

#include "lapse/core/version.hpp"
#include "lapse/ps/parameter_server.hpp"
#include "lapse/transport/mpi/environment.hpp"
#include "test/install/consumer/plugin.hpp"

namespace {

// The locks of MPI calls that copies of the library have announced.
int announced_locks() {
  void* last = nullptr;
  int found = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &found);
  int locks = 0;
  for (int code = MPI_ERR_LASTCODE + 1; code <= *static_cast<int*>(last); ++code) {
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    locks += std::string(text.data()).starts_with("lapse: lock of MPI calls") ? 1 : 0;
  }
  return locks;
}

}  // namespace

int main(int argc, char** argv) {
  lapse::prepare_mpi_environment();
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  void* const library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  const Plugin plugin = reinterpret_cast<GetPlugin>(dlsym(library, "get_plugin"))();
  int wrong = plugin.version_function == reinterpret_cast<const void*>(&lapse::library_version) ? 1 : 0;
  if (wrong != 0) std::fprintf(stderr, "wrong: the plugin has no copy of the library of its own\n");
  {
    lapse::ParameterServer server(MPI_COMM_WORLD);
    const auto table = server.create_table<float>({.name = "of the host", .keys = 1000});
    plugin.open(MPI_COMM_WORLD);
    if (announced_locks() != 1) {
      std::fprintf(stderr, "wrong: the process has %d locks of MPI calls\n", announced_locks());
      wrong = 1;
    }
    std::thread beside(plugin.run);
    server.run_workers(2, [&](lapse::Worker& worker) {
      std::array<float, 1> value{1.0F};
      for (std::uint64_t i = 0; i < 2000; ++i) worker.pull(table, lapse::Key(i % 1000), value).wait();
    });
    beside.join();
    plugin.close();
    server.close();
  }
  dlclose(library);
  MPI_Finalize();
  return wrong;
}
