#include "apps/common/worker_readers.hpp"

#include <cstddef>
#include <span>
#include <string>

#include "lapse/core/log.hpp"

namespace lapse::apps {

io::ReaderGroup worker_readers(const ParameterServer& server, Worker& worker) {
  const auto warn = [rank = server.rank(), level = server.options().log_level](const std::string& message) {
    Logger(rank, level).warning("{}", message);
  };
  return {.is_first = worker.index() == 0,
          .broadcast = [&worker](std::span<std::byte> bytes) { worker.broadcast(bytes); },
          .silence_interval = server.options().stall_report,
          .report_silence = warn,
          .report_warning = warn};
}

}  // namespace lapse::apps
