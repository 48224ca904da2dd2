// The reason why an operation, a localize or a lease could not get a key.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "lapse/core/types.hpp"

namespace lapse {

// A rank reports this to the requester if it could not create or store a key, or if application code threw
// there. A value; the requester throws it.
struct KeyFailure {
  enum class Kind : std::uint8_t { user_code, out_of_memory };

  Kind kind = Kind::user_code;
  std::string table;
  Key key;
  Rank where;        // the rank on which it happened
  std::string text;  // message of the exception

  // Makes a failure of the exception that is being handled, thrown while a key was created or stored.
  // Rethrows ProtocolError, which is not an answer.
  static KeyFailure caught(std::string_view table, Key key, Rank where);
  // Makes a user_code failure of the exception that is being handled, whatever its type.
  static KeyFailure caught_from_user_code(std::string_view table, Key key, Rank where);

  // Throws UserCodeFailed or OutOfMemory, with table, key and rank.
  [[noreturn]] void raise() const;
};

// Runs f(), which creates or stores the key on rank `where`. Returns the failure; null on success.
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
