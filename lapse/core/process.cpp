#include "lapse/core/process.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <optional>

namespace lapse {

namespace {

struct Status {
  char state = 0;
  std::uint64_t start = 0;
};

// number (name) state … : the name may contain anything, the fields behind it do not. The state is field 3,
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

std::string status_line(std::int64_t number) {
  std::ifstream file(fmt::format("/proc/{}/stat", number));
  std::string line;
  std::getline(file, line);
  return line;
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
      return "stopped";
    case ProcessState::ended:
      return "ended";
    case ProcessState::unknown:
      break;
  }
  return "state not visible from this host";
}

ProcessState state_in_process_status(std::string_view line, std::uint64_t start) {
  const std::optional<Status> status = parse_status(line);
  if (!status || status->start != start) return ProcessState::ended;
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

ProcessIdentity ProcessIdentity::own() {
  ProcessIdentity own{.number = getpid(), .start = 0, .space = own_space()};
  if (const std::optional<Status> status = parse_status(status_line(own.number))) own.start = status->start;
  return own;
}

ProcessState ProcessIdentity::state() const {
  if (space.empty() || start == 0 || space != own_space()) return ProcessState::unknown;
  return state_in_process_status(status_line(number), start);
}

}  // namespace lapse
