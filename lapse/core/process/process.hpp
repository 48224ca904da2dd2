// Whether another process is alive.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lapse {

enum class ProcessState : std::uint8_t {
  runs,     // or waits for something
  stopped,  // by a signal or a debugger
  ended,
  unknown,  // not visible from here
};
std::string_view process_state_name(ProcessState state);

// A process of this host, in a form that can be sent to other processes. Process numbers are reused: the
// start time distinguishes the process from a later one with its number.
struct ProcessIdentity {
  std::int64_t number = 0;
  std::uint64_t start = 0;  // in clock ticks since the host's start; 0: unknown
  std::string space;        // in which the number is valid; containers have spaces of their own

  // The calling process.
  static ProcessIdentity own();

  // The state that the kernel shows now; unknown if it cannot be read for any reason. Any thread; does not
  // wait for the process.
  ProcessState state() const;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& number& start& space;
  }
};

// The state in a line of /proc/<number>/stat, for a process that started at `start`; unknown if it is not
// such a line. Pure.
ProcessState state_in_process_status(std::string_view line, std::uint64_t start);
// The start time in the line of /proc/self/stat; 0 unless the line is that of process `number`: if a
// container mounts the host's /proc, that numbers processes as the host does. Pure.
std::uint64_t start_in_own_status(std::string_view line, std::int64_t number);

}  // namespace lapse
