// The trace file of one process's regions.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "lapse/core/mutex.hpp"
#include "lapse/core/process/fork_hook.hpp"
#include "lapse/core/types.hpp"

namespace lapse {

// A JSON array of events in the Trace Event Format, which ui.perfetto.dev and other viewers draw. The rank is
// the process, the kernel's thread number is the thread; times are microseconds of the system clock. A
// failing write ends the trace with a message. Children made by fork are not traced. Thread safety: any
// thread.
class RegionTrace {
 public:
  // Creates the folder if it is missing, and in it a new file "rank-<rank>-<host>-<process>.json". Throws
  // FileError.
  RegionTrace(std::string folder, Rank rank);

  const std::string& folder() const { return folder_; }
  const std::string& path() const { return path_; }

  void begin(const char* name) noexcept;
  void end(const char* name) noexcept;
  // Writes everything so far to the file, which then ends as a JSON array does.
  void flush() noexcept;

 private:
  struct Close {
    void operator()(std::FILE* file) const;
  };

  void write(const char* name, char phase) noexcept;
  void leave_to_parent() noexcept;
  void check(bool written) noexcept LAPSE_REQUIRES(mutex_);

  const std::string folder_;
  const Rank rank_;
  std::string path_;
  Mutex mutex_;
  std::unique_ptr<std::FILE, Close> file_ LAPSE_GUARDED_BY(mutex_);  // null: it could not be written
  bool is_left_ = false;                                             // in a child made by fork
  const ForkHook fork_hook_{[](void* trace) noexcept { static_cast<RegionTrace*>(trace)->leave_to_parent(); },
                            this};
};

}  // namespace lapse
