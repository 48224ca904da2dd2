// Whether another process lives.
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

// A process of this host, in a form that can be sent to other processes. Numbers of processes are used again:
// the time of its start distinguishes it from a later process with its number.
struct ProcessIdentity {
  std::int64_t number = 0;
  std::uint64_t start = 0;  // in clock ticks since the host's; 0: not known
  std::string space;        // in which the number is valid; processes in containers have spaces of their own

  // Of the calling process.
  static ProcessIdentity own();

  // As the kernel shows it now; unknown where that cannot be read, for whatever reason. Any thread; does not
  // wait for the process.
  ProcessState state() const;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& number& start& space;
  }
};

// What a line of /proc/<number>/stat says about a process that started at `start`; unknown where it is not
// such a line. Pure.
ProcessState state_in_process_status(std::string_view line, std::uint64_t start);
// When the process started, by the line of /proc/self/stat; 0 unless the line is that of process `number`:
// where the host's /proc is mounted in a container, it numbers the processes as the host does. Pure.
std::uint64_t start_in_own_status(std::string_view line, std::int64_t number);

}  // namespace lapse
