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
// the time of its start distinguishes it from
// a later process with its number.
struct ProcessIdentity {
  std::int64_t number = 0;
  std::uint64_t start = 0;  // in clock ticks since the host's
  std::string space;        // in which the number is valid; processes in containers have spaces of their own

  // Of the calling process.
  static ProcessIdentity own();

  // As the kernel shows it now. Any thread; does not wait for the process.
  ProcessState state() const;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& number& start& space;
  }
};

// What a line of /proc/<number>/stat says about a process that started at `start`. Pure.
ProcessState state_in_process_status(std::string_view line, std::uint64_t start);

}  // namespace lapse
