// What a program says about its run in traces of allocation (docs/allocation-traces.md).
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "lapse/core/export.hpp"

namespace lapse {

// A named interval of time, such as an epoch, from when it is made until it ends; lapse-viewer draws those of
// rank 0 as bands. Costs a comparison unless a server of this process writes a trace. Names are UTF-8. Thread
// safety: any thread.
class LAPSE_EXPORT TraceBand {
 public:
  explicit TraceBand(std::string name);
  ~TraceBand();
  TraceBand(const TraceBand&) = delete;
  TraceBand& operator=(const TraceBand&) = delete;

 private:
  const std::string name_;
  const std::chrono::steady_clock::time_point begin_;
};

// The same for an interval that is over.
LAPSE_EXPORT void trace_band(std::string_view name, std::chrono::steady_clock::time_point begin,
                             std::chrono::steady_clock::time_point end) noexcept;

// The beginning of an interval of this length that ends now. Throws UsageError for seconds that are negative
// or not finite.
LAPSE_EXPORT std::chrono::steady_clock::time_point seconds_ago(double seconds);

// A property of the run, such as "technique"; the last value of a name counts. Traces that begin later have
// it, too. Any thread.
LAPSE_EXPORT void trace_note(std::string_view name, std::string_view value) noexcept;

}  // namespace lapse
