// The file of the regions of one process.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "lapse/core/mutex.hpp"
#include "lapse/core/process/fork_hook.hpp"
#include "lapse/core/types.hpp"

namespace lapse {

// A JSON array of events in the Trace Event Format, which ui.perfetto.dev and other viewers draw: the rank is
// the process, the kernel's number of a thread is the thread; times are microseconds of the system's clock.
// A disk that refuses bytes ends the trace with a message. What children do that fork makes is not traced.
// Thread safety: any thread.
class RegionTrace {
 public:
  // Makes the folder where it is missing, and a new file "rank-<rank>-<host>-<process>.json" in it. Throws
  // FileError.
  RegionTrace(std::string folder, Rank rank);

  const std::string& folder() const { return folder_; }
  const std::string& path() const { return path_; }

  void begin(const char* name) noexcept;
  void end(const char* name) noexcept;
  // What has happened up to now is in the file, which ends as a JSON array does.
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
  bool is_left_ = false;                                             // in a child that fork has made
  const ForkHook fork_hook_{[](void* trace) noexcept { static_cast<RegionTrace*>(trace)->leave_to_parent(); },
                            this};
};

}  // namespace lapse
