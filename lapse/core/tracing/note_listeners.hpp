// Who is notified of what a program says about its run.
#pragma once

#include <chrono>
#include <string_view>

namespace lapse {

// Thread safety: any thread.
class NoteListener {
 public:
  using Time = std::chrono::steady_clock::time_point;
  virtual void band(std::string_view name, Time begin, Time end) = 0;
  virtual void note(std::string_view name, std::string_view value) = 0;

 protected:
  ~NoteListener() = default;
};

// Notifies the listener of all notes there have been, and of bands and notes from now on, until it is
// removed. Any thread.
void add_note_listener(NoteListener& listener);
void remove_note_listener(NoteListener& listener);

}  // namespace lapse
