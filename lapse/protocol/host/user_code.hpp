// Runs user code and converts its exceptions to UserCodeFailed.
#pragma once

#include <exception>
#include <string_view>

#include "lapse/core/error.hpp"
#include "lapse/core/types.hpp"

namespace lapse {

// Returns f(), which works on a key on this rank. Converts every exception to UserCodeFailed, except
// OutOfMemory, which the server itself throws, and UserCodeFailed, which already names its key.
template <class F>
decltype(auto) run_user_code(std::string_view table, Key key, Rank rank, F&& f) {
  try {
    return f();
  } catch (const OutOfMemory&) {
    throw;
  } catch (const UserCodeFailed&) {
    throw;
  } catch (const std::exception& error) {
    throw UserCodeFailed(table, key, rank, error.what());
  } catch (...) {
    throw UserCodeFailed(table, key, rank, "unknown exception");
  }
}

}  // namespace lapse
