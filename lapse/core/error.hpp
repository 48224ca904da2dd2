// The project's exceptions. Each says what was wrong, where, and what was expected.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "lapse/core/export.hpp"
#include "lapse/core/types.hpp"

namespace lapse {

struct LAPSE_EXPORT Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A call that can never succeed as made: wrong argument, wrong order of calls, wrong thread.
struct LAPSE_EXPORT UsageError : Error {
  using Error::Error;
};

// A key outside the table's range.
class LAPSE_EXPORT KeyOutOfRange : public UsageError {
 public:
  KeyOutOfRange(std::string_view table, Key key, std::uint64_t keys, Rank rank);
};

// A span whose length does not fit its keys.
class LAPSE_EXPORT LengthMismatch : public UsageError {
 public:
  LengthMismatch(std::string_view table, std::string_view what, std::size_t given, std::size_t expected,
                 Rank rank);
};

// A call on a server, worker or operation after close().
struct LAPSE_EXPORT ClosedError : UsageError {
  using UsageError::UsageError;
};
// A collective call that ranks or workers made differently or in a different order, or can no longer make.
struct LAPSE_EXPORT CollectiveMismatch : UsageError {
  using UsageError::UsageError;
};
// An option, environment variable or specification with an unknown name or impossible value.
struct LAPSE_EXPORT ConfigurationError : Error {
  using Error::Error;
};
// MPI is not initialised, already finalized, or has too low a thread level.
struct LAPSE_EXPORT MpiStateError : Error {
  using Error::Error;
};
// A failed MPI call; names the call.
struct LAPSE_EXPORT MpiError : Error {
  using Error::Error;
};
// Memory cannot be allocated: how much was requested, how much is available, for what.
struct LAPSE_EXPORT OutOfMemory : Error {
  using Error::Error;
};
// A message or internal state that the protocol forbids. Always a bug in this library, never in the program.
struct LAPSE_EXPORT ProtocolError : Error {
  using Error::Error;
};

// Some rank failed; every rank's waits and run_workers end with this exception.
class LAPSE_EXPORT PeerFailed : public Error {
 public:
  PeerFailed(Rank origin, std::string text);
  Rank origin() const { return origin_; }
  // The failing rank's message.
  const std::string& text() const { return text_; }

 private:
  Rank origin_;
  std::string text_;
};

// Application code that runs in the server (a registered function, an update rule, an initial value; while a
// table is created, a function of lengths or homes) has thrown. Its earlier writes stay; nothing else was
// disturbed.
class LAPSE_EXPORT UserCodeFailed : public Error {
 public:
  // `where`: the rank it ran on.
  UserCodeFailed(std::string_view table, Key key, Rank where, std::string text);
  Key key() const { return key_; }
  Rank where() const { return where_; }
  // The message of what was thrown.
  const std::string& text() const { return text_; }

 private:
  Key key_;
  Rank where_;
  std::string text_;
};

}  // namespace lapse
