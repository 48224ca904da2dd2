#include "lapse/transport/rma/rdma_devices.hpp"

#include <fstream>
#include <string>
#include <system_error>

namespace lapse {

namespace fs = std::filesystem;

bool has_active_rdma_port(const fs::path& folder) {
  std::error_code ignored;
  for (fs::directory_iterator device(folder, ignored); device != fs::directory_iterator();
       device.increment(ignored)) {
    std::error_code none;
    for (fs::directory_iterator port(device->path() / "ports", none); port != fs::directory_iterator();
         port.increment(none)) {
      // "4: ACTIVE"
      std::ifstream file(port->path() / "state");
      std::string state;
      if (std::getline(file, state) && state.find("ACTIVE") != std::string::npos) return true;
    }
  }
  return false;
}

}  // namespace lapse
