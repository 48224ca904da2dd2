#include "lapse/c/status.hpp"

#include <fmt/format.h>

#include <new>

#include "lapse/checkpoint/checkpoint_error.hpp"

namespace lapse::c {

namespace {

thread_local std::string last_error;
thread_local lapse_status last_status = LAPSE_OK;  // in the running function of a worker

lapse_status failed(lapse_status status, const char* text) noexcept {
  last_status = status;
  try {
    last_error = text;
  } catch (const std::bad_alloc&) {
    last_error.clear();
  }
  return status;
}

}  // namespace

// From the most specific to the most general type.
lapse_status status_of_exception() noexcept {
  try {
    throw;
  } catch (const KeyOutOfRange& error) {
    return failed(LAPSE_ERROR_KEY, error.what());
  } catch (const LengthMismatch& error) {
    return failed(LAPSE_ERROR_LENGTH, error.what());
  } catch (const ClosedError& error) {
    return failed(LAPSE_ERROR_CLOSED, error.what());
  } catch (const CollectiveMismatch& error) {
    return failed(LAPSE_ERROR_COLLECTIVE, error.what());
  } catch (const UsageError& error) {
    return failed(LAPSE_ERROR_USAGE, error.what());
  } catch (const ConfigurationError& error) {
    return failed(LAPSE_ERROR_CONFIGURATION, error.what());
  } catch (const MpiStateError& error) {
    return failed(LAPSE_ERROR_MPI_STATE, error.what());
  } catch (const MpiError& error) {
    return failed(LAPSE_ERROR_MPI, error.what());
  } catch (const OutOfMemory& error) {
    return failed(LAPSE_ERROR_MEMORY, error.what());
  } catch (const PeerFailed& error) {
    return failed(LAPSE_ERROR_PEER_FAILED, error.what());
  } catch (const UserCodeFailed& error) {
    return failed(LAPSE_ERROR_USER_CODE, error.what());
  } catch (const CallbackFailed& error) {
    return failed(LAPSE_ERROR_USER_CODE, error.what());
  } catch (const CheckpointError& error) {
    return failed(LAPSE_ERROR_CHECKPOINT, error.what());
  } catch (const std::bad_alloc&) {
    return failed(LAPSE_ERROR_MEMORY, "no memory");
  } catch (const std::exception& error) {
    return failed(LAPSE_ERROR_INTERNAL, error.what());
  } catch (...) {
    return failed(LAPSE_ERROR_INTERNAL, "an exception of an unknown type");
  }
}

void check_size(std::size_t given, std::size_t expected, const char* name) {
  if (given == expected) return;
  throw ConfigurationError(
      fmt::format("a {} of {} bytes, expected {}: call {}_init, and compile with the header of this version",
                  name, given, expected, name));
}

std::optional<bool> choice_of(int given, const char* name) {
  if (given == LAPSE_DEFAULT) return std::nullopt;
  if (given == LAPSE_ON || given == LAPSE_OFF) return given == LAPSE_ON;
  throw ConfigurationError(
      fmt::format("{} is {}: expected LAPSE_DEFAULT, LAPSE_OFF or LAPSE_ON", name, given));
}

void check_callback(int result, const char* what) {
  if (result != 0) throw CallbackFailed(fmt::format("{} of the application returned {}", what, result));
}

CheckedWorker::CheckedWorker() noexcept {
  last_status = LAPSE_OK;
}

void CheckedWorker::check(int result) const {
  constexpr const char* kWhat = "the function of a worker";
  if (result == LAPSE_OK || result != last_status) return check_callback(result, kWhat);
  throw CallbackFailed(fmt::format("{} of the application returned {} ({}: {})", kWhat, result,
                                   lapse_status_name(last_status), last_error));
}

}  // namespace lapse::c

const char* lapse_last_error() {
  return lapse::c::last_error.c_str();
}

lapse_status lapse_fail(lapse_status status, const char* text) {
  return lapse::c::failed(status, text == nullptr ? "" : text);
}

const char* lapse_status_name(lapse_status status) {
  switch (status) {
    case LAPSE_OK:
      return "LAPSE_OK";
    case LAPSE_ERROR_USAGE:
      return "LAPSE_ERROR_USAGE";
    case LAPSE_ERROR_KEY:
      return "LAPSE_ERROR_KEY";
    case LAPSE_ERROR_LENGTH:
      return "LAPSE_ERROR_LENGTH";
    case LAPSE_ERROR_CLOSED:
      return "LAPSE_ERROR_CLOSED";
    case LAPSE_ERROR_COLLECTIVE:
      return "LAPSE_ERROR_COLLECTIVE";
    case LAPSE_ERROR_CONFIGURATION:
      return "LAPSE_ERROR_CONFIGURATION";
    case LAPSE_ERROR_MPI_STATE:
      return "LAPSE_ERROR_MPI_STATE";
    case LAPSE_ERROR_MPI:
      return "LAPSE_ERROR_MPI";
    case LAPSE_ERROR_MEMORY:
      return "LAPSE_ERROR_MEMORY";
    case LAPSE_ERROR_PEER_FAILED:
      return "LAPSE_ERROR_PEER_FAILED";
    case LAPSE_ERROR_USER_CODE:
      return "LAPSE_ERROR_USER_CODE";
    case LAPSE_ERROR_CHECKPOINT:
      return "LAPSE_ERROR_CHECKPOINT";
    case LAPSE_ERROR_INTERNAL:
      return "LAPSE_ERROR_INTERNAL";
  }
  return "unknown";
}
