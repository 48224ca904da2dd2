// A plugin that contains the library.
#include "test/install/consumer/plugin.hpp"

#include <memory>
#include <optional>
#include <vector>

#include "lapse/core/version.hpp"
#include "lapse/ps/parameter_server.hpp"

namespace {

std::unique_ptr<lapse::ParameterServer> server;
std::optional<lapse::Table<float>> table;

void open(MPI_Comm communicator) {
  server = std::make_unique<lapse::ParameterServer>(communicator);
  table = server->create_table<float>({.name = "of the plugin", .keys = 1000});
}

void run() {
  server->run_workers(2, [](lapse::Worker& worker) {
    std::vector<float> value{1.0F};
    for (std::uint64_t i = 0; i < 2000; ++i) {
      worker.push(*table, lapse::Key(i % 1000), value);
      worker.pull(*table, lapse::Key(999 - i % 1000), value).wait();
      value[0] = 1.0F;
    }
  });
}

void close() {
  server->close();
  server.reset();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) Plugin get_plugin() {
  return {open, run, close, reinterpret_cast<const void*>(&lapse::library_version)};
}
