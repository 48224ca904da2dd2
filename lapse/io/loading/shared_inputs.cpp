#include "lapse/io/loading/shared_inputs.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>

#include "lapse/core/file_error.hpp"
#include "lapse/io/files/file_descriptor.hpp"
#include "lapse/io/loading/broadcast_source.hpp"

namespace lapse::io {

namespace {

// How the group reads a path: the number of bytes of a regular file, or kStream.
using Decision = std::uint64_t;
constexpr Decision kStream = std::numeric_limits<Decision>::max();

void check_read_once(const std::vector<std::string>& paths) {
  for (std::size_t i = 0; i < paths.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (!is_same_stream(paths[i], paths[j])) continue;
      const std::string names =
          paths[i] == paths[j]
              ? fmt::format("{} is given twice", input_name(paths[i]))
              : fmt::format("{} and {} are one stream", input_name(paths[j]), input_name(paths[i]));
      throw ConfigurationError(names + ": it can be read once only");
    }
  }
}

// Called on the first rank.
Decision decide(const std::string& path) {
  if (path.empty()) return 0;
  if (is_stream(path)) return kStream;
  return FileDescriptor(path).size().value_or(kStream);
}

std::string host_name() {
  utsname names{};
  return ::uname(&names) == 0 ? names.nodename : "unknown";
}

// Called on the other ranks: checks that they have the first one's file.
void check_file(const std::string& path, std::uint64_t expected_bytes) {
  struct stat status {};
  if (::access(path.c_str(), R_OK) != 0 || ::stat(path.c_str(), &status) != 0) {
    throw FileError(path,
                    fmt::format("cannot be opened on host {}: {}; the first rank has it, expected it on "
                                "every host",
                                host_name(), std::strerror(errno)));
  }
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  if (bytes != expected_bytes) {
    throw FileError(path,
                    fmt::format("has {} bytes on host {} and {} on that of the first rank, expected the "
                                "same file on every host",
                                bytes, host_name(), expected_bytes));
  }
}

Input shared_input(const std::string& path, Decision decision, const ReaderGroup& group) {
  if (decision == kStream)
    return {path, [path, group] { return std::make_unique<BroadcastSource>(path, group); }};
  if (!path.empty() && !group.is_first) check_file(path, decision);
  return path;
}

}  // namespace

std::vector<Input> shared_inputs(const std::vector<std::string>& paths, const ReaderGroup& group) {
  if (group.is_first) check_read_once(paths);
  if (group.is_alone()) return {paths.begin(), paths.end()};
  std::vector<Decision> decisions(paths.size());
  if (group.is_first) std::transform(paths.begin(), paths.end(), decisions.begin(), decide);
  group.broadcast(std::as_writable_bytes(std::span(decisions)));
  std::vector<Input> inputs;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    inputs.push_back(shared_input(paths[i], decisions[i], group));
  }
  return inputs;
}

}  // namespace lapse::io
