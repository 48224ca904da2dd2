// Processes that need the same inputs.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace lapse::io {

// The ranks of a program that read inputs together, each with a thread. Functions that take a group are
// collective over it. The default is a process alone.
struct ReaderGroup {
  // Collective: gives every rank the bytes of the first one; all give spans of one length. Throws when
  // another rank has failed, so that no rank waits for it.
  using Broadcast = std::function<void(std::span<std::byte>)>;

  bool is_first = true;  // of the ranks: it reads what can be read once only
  Broadcast broadcast;   // none: alone

  bool is_alone() const { return broadcast == nullptr; }
};

}  // namespace lapse::io
