#include "lapse/c/status.hpp"

#include <fmt/format.h>

#include <array>
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

// From the most specific to the most general type.
lapse_status status_of(const Error& error) {
  if (dynamic_cast<const KeyOutOfRange*>(&error) != nullptr) return LAPSE_ERROR_KEY;
  if (dynamic_cast<const LengthMismatch*>(&error) != nullptr) return LAPSE_ERROR_LENGTH;
  if (dynamic_cast<const ClosedError*>(&error) != nullptr) return LAPSE_ERROR_CLOSED;
  if (dynamic_cast<const CollectiveMismatch*>(&error) != nullptr) return LAPSE_ERROR_COLLECTIVE;
  if (dynamic_cast<const UsageError*>(&error) != nullptr) return LAPSE_ERROR_USAGE;
  if (dynamic_cast<const ConfigurationError*>(&error) != nullptr) return LAPSE_ERROR_CONFIGURATION;
  if (dynamic_cast<const MpiStateError*>(&error) != nullptr) return LAPSE_ERROR_MPI_STATE;
  if (dynamic_cast<const MpiError*>(&error) != nullptr) return LAPSE_ERROR_MPI;
  if (dynamic_cast<const OutOfMemory*>(&error) != nullptr) return LAPSE_ERROR_MEMORY;
  if (dynamic_cast<const PeerFailed*>(&error) != nullptr) return LAPSE_ERROR_PEER_FAILED;
  if (dynamic_cast<const UserCodeFailed*>(&error) != nullptr) return LAPSE_ERROR_USER_CODE;
  if (dynamic_cast<const CallbackFailed*>(&error) != nullptr) return LAPSE_ERROR_USER_CODE;
  if (dynamic_cast<const CheckpointError*>(&error) != nullptr) return LAPSE_ERROR_CHECKPOINT;
  return LAPSE_ERROR_INTERNAL;
}

}  // namespace

lapse_status status_of_exception() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return failed(status_of(error), error.what());
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
  constexpr std::array kNames{"LAPSE_OK",
                              "LAPSE_ERROR_USAGE",
                              "LAPSE_ERROR_KEY",
                              "LAPSE_ERROR_LENGTH",
                              "LAPSE_ERROR_CLOSED",
                              "LAPSE_ERROR_COLLECTIVE",
                              "LAPSE_ERROR_CONFIGURATION",
                              "LAPSE_ERROR_MPI_STATE",
                              "LAPSE_ERROR_MPI",
                              "LAPSE_ERROR_MEMORY",
                              "LAPSE_ERROR_PEER_FAILED",
                              "LAPSE_ERROR_USER_CODE",
                              "LAPSE_ERROR_CHECKPOINT",
                              "LAPSE_ERROR_INTERNAL"};
  static_assert(kNames.size() == LAPSE_ERROR_INTERNAL + 1);
  const auto number = static_cast<std::size_t>(status);
  return number < kNames.size() ? kNames[number] : "unknown";
}
