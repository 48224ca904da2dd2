#include "apps/viewer/trace_server.hpp"

#include <fmt/format.h>
#include <httplib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <set>
#include <utility>

#include "apps/viewer/page_file.hpp"
#include "apps/viewer/rank_trace.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/file_error.hpp"

namespace lapse::apps {

namespace {

constexpr const char* kHost = "127.0.0.1";
constexpr std::uint64_t kMaxPart = std::uint64_t{8} << 20U;  // bytes of a file in one answer

std::string random_token() {
  std::random_device device;
  std::string token;
  for (int i = 0; i < 4; ++i) token += fmt::format("{:08x}", device());
  return token;
}

std::string rank_path(const ServedRun& run, std::size_t rank) {
  return fmt::format("{}.{}", run.prefix, rank);
}

std::uint64_t bytes_of(const std::string& path) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  return error ? 0 : bytes;
}

// A whole number that is a parameter of the request.
std::optional<std::uint64_t> number_in(const httplib::Request& request, const char* name) {
  const std::string text = request.get_param_value(name);
  constexpr std::size_t kMaxDigits = 18;
  if (text.empty() || text.size() > kMaxDigits ||
      !std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; }))
    return std::nullopt;
  return std::stoull(text);
}

}  // namespace

class TraceServer::Impl {
 public:
  Impl(std::vector<ServedRun> runs, std::uint16_t port) : runs_(std::move(runs)) {
    std::set<std::string> names;
    for (const ServedRun& run : runs_)
      if (!names.insert(run.name).second)
        throw ConfigurationError(
            fmt::format("there are two runs '{}': NAME=TRACE gives one another name", run.name));
    // By default, several programs could share a port.
    server_.set_socket_options([](socket_t socket) {
      const int on = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    });
    server_.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      response.set_header("Cache-Control", "no-store");
      if (request.get_param_value("token") == token_) return httplib::Server::HandlerResponse::Unhandled;
      response.status = 403;
      response.set_content("The address needs the token that lapse-viewer has printed.\n", "text/plain");
      return httplib::Server::HandlerResponse::Handled;
    });
    server_.Get("/", [](const httplib::Request&, httplib::Response& response) {
      response.set_content(served_page(), "text/html; charset=utf-8");
    });
    server_.Get("/runs", [this](const httplib::Request&, httplib::Response& response) {
      response.set_content(runs_json(), "application/json");
    });
    server_.Get("/file", [this](const httplib::Request& request, httplib::Response& response) {
      answer_file(request, response);
    });
    port_ = port == 0 ? server_.bind_to_any_port(kHost) : server_.bind_to_port(kHost, port) ? int{port} : -1;
    if (port_ < 0)
      throw ConfigurationError(
          fmt::format("port {} of {} cannot be had: another program may use it", port, kHost));
  }

  std::string address() const { return fmt::format("http://{}:{}/?token={}", kHost, port_, token_); }
  void run() { server_.listen_after_bind(); }
  void stop() { server_.stop(); }

 private:
  static nlohmann::json run_json(const ServedRun& run) {
    nlohmann::json json = {
        {"name", run.name}, {"files", nlohmann::json::array()}, {"start", nullptr}, {"problem", ""}};
    if (bytes_of(rank_path(run, 0)) == 0) return json;  // Not there yet.
    try {
      const RankTrace header = read_rank_header(rank_path(run, 0));
      json["start"] = header.begin;
      for (std::size_t rank = 0; rank < header.hosts.size(); ++rank) {
        const std::string path = rank_path(run, rank);
        json["files"].push_back({{"file", path.substr(path.rfind('/') + 1)}, {"bytes", bytes_of(path)}});
      }
    } catch (const FileError& error) {
      json["problem"] = error.what();
    }
    return json;
  }
  std::string runs_json() const {
    nlohmann::json runs = nlohmann::json::array();
    for (const ServedRun& run : runs_) runs.push_back(run_json(run));
    return runs.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }

  // The bytes of a rank's file from a position on; as many as there are, up to a limit.
  void answer_file(const httplib::Request& request, httplib::Response& response) const {
    const auto number = number_in(request, "run");
    const auto rank = number_in(request, "rank");
    const auto from = number_in(request, "from");
    if (!number || !rank || !from || *number >= runs_.size()) {
      response.status = 400;
      return;
    }
    const std::string path = rank_path(runs_[*number], *rank);
    std::ifstream file(path, std::ios::binary);
    if (!file) {
      response.status = 404;
      return;
    }
    const std::uint64_t all = bytes_of(path);
    std::string bytes(std::min(kMaxPart, all - std::min(all, *from)), '\0');
    file.seekg(static_cast<std::streamoff>(*from));
    file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
    response.set_content(bytes, "application/octet-stream");
  }

  const std::vector<ServedRun> runs_;
  const std::string token_ = random_token();
  httplib::Server server_;
  int port_ = -1;
};

TraceServer::TraceServer(std::vector<ServedRun> runs, std::uint16_t port)
    : impl_(std::make_unique<Impl>(std::move(runs), port)) {}

TraceServer::~TraceServer() = default;

std::string TraceServer::address() const {
  return impl_->address();
}

void TraceServer::run() {
  impl_->run();
}

void TraceServer::stop() {
  impl_->stop();
}

}  // namespace lapse::apps
