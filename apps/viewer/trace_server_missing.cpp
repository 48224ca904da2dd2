// In place of trace_server.cpp, in a build without cpp-httplib.

#include "apps/viewer/trace_server.hpp"
#include "lapse/core/error.hpp"

namespace lapse::apps {

class TraceServer::Impl {};

// NOLINTNEXTLINE(performance-unnecessary-value-param): as the other one
TraceServer::TraceServer(std::vector<ServedRun>, std::uint16_t) {
  throw ConfigurationError("this program was built without cpp-httplib: it makes pages, but serves none");
}

TraceServer::~TraceServer() = default;

std::string TraceServer::address() const {
  return {};
}

void TraceServer::run() {}

void TraceServer::stop() {}

}  // namespace lapse::apps
