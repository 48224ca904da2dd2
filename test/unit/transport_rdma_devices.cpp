// Network adapters with remote memory access, in folders like the kernel's.
#include "lapse/transport/rma/rdma_devices.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "test/support/catch.hpp"

namespace fs = std::filesystem;
using lapse::has_active_rdma_port;

namespace {

class Devices {
 public:
  Devices() : folder_(fs::temp_directory_path() / ("lapse-rdma-" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~Devices() { fs::remove_all(folder_); }
  Devices(const Devices&) = delete;
  Devices& operator=(const Devices&) = delete;

  void add_port(const char* device, const char* port, const char* state) const {
    const fs::path folder = folder_ / device / "ports" / port;
    fs::create_directories(folder);
    std::ofstream(folder / "state") << state << '\n';
  }
  const fs::path& folder() const { return folder_; }

 private:
  fs::path folder_;
};

}  // namespace

TEST_CASE("rdma devices: a port must be active") {
  const Devices devices;
  REQUIRE_FALSE(has_active_rdma_port(devices.folder()));
  REQUIRE_FALSE(has_active_rdma_port(devices.folder() / "nowhere"));
  fs::create_directories(devices.folder() / "without_ports");
  devices.add_port("mlx5_0", "1", "1: DOWN");
  devices.add_port("mlx5_0", "2", "2: INIT");
  REQUIRE_FALSE(has_active_rdma_port(devices.folder()));
  devices.add_port("mlx5_1", "1", "4: ACTIVE");
  REQUIRE(has_active_rdma_port(devices.folder()));
}
