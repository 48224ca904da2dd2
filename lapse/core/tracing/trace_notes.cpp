#include "lapse/core/tracing/trace_notes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <utility>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/mutex.hpp"
#include "lapse/core/tracing/note_listeners.hpp"

namespace lapse {

namespace {

// Of this process.
class Notes {
 public:
  static Notes& all() {
    static Notes* const notes = new Notes;  // Never freed: threads may outlive static objects.
    return *notes;
  }

  bool has_listeners() const { return has_listeners_.load(std::memory_order_relaxed); }
  void add(NoteListener& listener) LAPSE_EXCLUDES(mutex_) {
    const MutexLock guard(mutex_);
    listeners_.reserve(listeners_.size() + 1);
    for (const auto& [name, value] : notes_) listener.note(name, value);
    listeners_.push_back(&listener);
    has_listeners_.store(true, std::memory_order_relaxed);
  }
  void remove(NoteListener& listener) LAPSE_EXCLUDES(mutex_) {
    const MutexLock guard(mutex_);
    std::erase(listeners_, &listener);
    has_listeners_.store(!listeners_.empty(), std::memory_order_relaxed);
  }
  void band(std::string_view name, NoteListener::Time begin, NoteListener::Time end) LAPSE_EXCLUDES(mutex_) {
    const MutexLock guard(mutex_);
    for (NoteListener* const listener : listeners_) listener->band(name, begin, end);
  }
  void note(std::string_view name, std::string_view value) LAPSE_EXCLUDES(mutex_) {
    const MutexLock guard(mutex_);
    notes_.insert_or_assign(std::string(name), std::string(value));
    for (NoteListener* const listener : listeners_) listener->note(name, value);
  }

 private:
  Mutex mutex_;
  std::atomic<bool> has_listeners_{false};
  std::vector<NoteListener*> listeners_ LAPSE_GUARDED_BY(mutex_);
  std::map<std::string, std::string> notes_ LAPSE_GUARDED_BY(mutex_);
};

}  // namespace

void add_note_listener(NoteListener& listener) {
  Notes::all().add(listener);
}

void remove_note_listener(NoteListener& listener) {
  Notes::all().remove(listener);
}

void trace_band(std::string_view name, std::chrono::steady_clock::time_point begin,
                std::chrono::steady_clock::time_point end) noexcept {
  if (!Notes::all().has_listeners()) return;
  try {
    Notes::all().band(name, begin, end);
  } catch (...) {
    // A trace without it is worth more than a program that ends.
  }
}

std::chrono::steady_clock::time_point seconds_ago(double seconds) {
  constexpr double kMaxSeconds = 1e9;
  if (!(seconds >= 0 && seconds <= kMaxSeconds))
    throw UsageError(fmt::format("an interval of {} seconds: expected a number from 0", seconds));
  using Steady = std::chrono::steady_clock;
  return Steady::now() - std::chrono::duration_cast<Steady::duration>(std::chrono::duration<double>(seconds));
}

void trace_note(std::string_view name, std::string_view value) noexcept {
  try {
    Notes::all().note(name, value);
  } catch (...) {
    // Likewise.
  }
}

TraceBand::TraceBand(std::string name) : name_(std::move(name)), begin_(std::chrono::steady_clock::now()) {}

TraceBand::~TraceBand() {
  trace_band(name_, begin_, std::chrono::steady_clock::now());
}

}  // namespace lapse
