// Why an operation, a localize or a lease could not have a key.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "lapse/core/types.hpp"

namespace lapse {

// What the rank that could not make or store a key, or on which code of the application threw, reports to
// the requester. A value; the requester throws it.
struct KeyFailure {
  enum class Kind : std::uint8_t { user_code, out_of_memory };

  Kind kind = Kind::user_code;
  std::string table;
  Key key;
  Rank where;        // the rank on which it happened
  std::string text;  // what was thrown there

  // The exception that is being handled, for a key that was to be made or stored. Rethrows ProtocolError,
  // which is no answer.
  static KeyFailure caught(std::string_view table, Key key, Rank where);
  // The exception that is being handled, whatever it is, as the failure of code of the application.
  static KeyFailure caught_from_user_code(std::string_view table, Key key, Rank where);

  // Throws UserCodeFailed or OutOfMemory, with table, key and rank.
  [[noreturn]] void raise() const;
};

// Runs f(), which makes or stores the key on rank `where`. Returns what it threw, null when it succeeded.
template <class F>
[[nodiscard]] std::unique_ptr<KeyFailure> failure_of(std::string_view table, Key key, Rank where, F&& f) {
  try {
    std::forward<F>(f)();
    return nullptr;
  } catch (...) {
    return std::make_unique<KeyFailure>(KeyFailure::caught(table, key, where));
  }
}

}  // namespace lapse
