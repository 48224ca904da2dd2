#include "lapse/core/process/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <optional>

namespace lapse {

namespace {

struct Status {
  char state = 0;
  std::uint64_t start = 0;
};

// number (name) state … : the name may contain anything, the fields after it do not. The state is field 3,
// the start field 22.
std::optional<Status> parse_status(std::string_view line) {
  constexpr int kFieldsToStart = 19;
  const std::size_t name_end = line.rfind(") ");
  if (name_end == std::string_view::npos || name_end + 2 >= line.size()) return std::nullopt;
  line.remove_prefix(name_end + 2);
  Status status{.state = line.front()};
  for (int field = 0; field < kFieldsToStart; ++field) {
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    line.remove_prefix(space + 1);
  }
  const auto parsed = std::from_chars(line.data(), line.data() + line.size(), status.start);
  return parsed.ec == std::errc() ? std::optional(status) : std::nullopt;
}

struct StatusFile {
  std::string line;
  int error = 0;
};

// Reading also fails if the process ends meanwhile.
StatusFile read_status_file(const std::string& path) {
  StatusFile read;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    read.error = errno;
    return read;
  }
  // The line has 52 fields, most of them short.
  char characters[4096];
  const ssize_t length = ::read(file, characters, sizeof characters);
  if (length < 0)
    read.error = errno;
  else
    read.line.assign(characters, static_cast<std::size_t>(length));
  close(file);
  return read;
}

std::string own_space() {
  char name[64];
  const ssize_t length = readlink("/proc/self/ns/pid", name, sizeof name);
  return length > 0 ? std::string(name, static_cast<std::size_t>(length)) : std::string();
}

}  // namespace

std::string_view process_state_name(ProcessState state) {
  switch (state) {
    case ProcessState::runs:
      return "runs";
    case ProcessState::stopped:
      return "stopped by a signal or a debugger, and continues after kill -CONT";
    case ProcessState::ended:
      return "ended: the process is gone, and its last lines or its exit status say why";
    case ProcessState::unknown:
      break;
  }
  return "is on another host or in another container, where this rank cannot see whether it is stopped";
}

ProcessState state_in_process_status(std::string_view line, std::uint64_t start) {
  const std::optional<Status> status = parse_status(line);
  if (!status) return ProcessState::unknown;
  if (status->start != start) return ProcessState::ended;
  switch (status->state) {
    case 'T':
    case 't':
      return ProcessState::stopped;
    case 'Z':
    case 'X':
    case 'x':
      return ProcessState::ended;
    default:
      return ProcessState::runs;
  }
}

std::uint64_t start_in_own_status(std::string_view line, std::int64_t number) {
  std::int64_t found = 0;
  const auto parsed = std::from_chars(line.data(), line.data() + line.size(), found);
  if (parsed.ec != std::errc() || found != number) return 0;
  const std::optional<Status> status = parse_status(line);
  return status ? status->start : 0;
}

ProcessIdentity ProcessIdentity::own() {
  const std::int64_t number = getpid();
  return {.number = number,
          .start = start_in_own_status(read_status_file("/proc/self/stat").line, number),
          .space = own_space()};
}

ProcessState ProcessIdentity::state() const {
  if (space.empty() || start == 0 || space != own_space()) return ProcessState::unknown;
  const StatusFile file = read_status_file(fmt::format("/proc/{}/stat", number));
  if (file.error == ENOENT || file.error == ESRCH) return ProcessState::ended;
  return state_in_process_status(file.line, start);
}

}  // namespace lapse
