#include "lapse/protocol/table/key_failure.hpp"

#include <fmt/format.h>

#include <exception>
#include <new>

#include "lapse/core/error.hpp"

namespace lapse {

KeyFailure KeyFailure::caught(std::string_view table, Key key, Rank where) {
  const auto out_of_memory = [&](const char* text) {
    return KeyFailure{Kind::out_of_memory, std::string(table), key, where, text};
  };
  try {
    throw;
  } catch (const ProtocolError&) {
    throw;
  } catch (const OutOfMemory& error) {
    return out_of_memory(error.what());
  } catch (const std::bad_alloc& error) {
    return out_of_memory(error.what());
  } catch (...) {
    return caught_from_user_code(table, key, where);
  }
}

KeyFailure KeyFailure::caught_from_user_code(std::string_view table, Key key, Rank where) {
  KeyFailure failure{Kind::user_code, std::string(table), key, where, "unknown exception"};
  try {
    throw;
  } catch (const std::exception& error) {
    failure.text = error.what();
  } catch (...) {
    // It has no message.
  }
  return failure;
}

void KeyFailure::raise() const {
  switch (kind) {
    case Kind::user_code:
      throw UserCodeFailed(table, key, where, text);
    case Kind::out_of_memory:
      break;
  }
  throw OutOfMemory(fmt::format("no memory for key {} of table '{}' on rank {}: {}", key.value(), table,
                                where.value(), text));
}

}  // namespace lapse
