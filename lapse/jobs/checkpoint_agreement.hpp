// Steps of a checkpoint that every rank takes, or none.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "lapse/ps/agreement/archive.hpp"
#include "lapse/ps/parameter_server.hpp"

namespace lapse {

// Each rank tries its part of a step. Then all ranks continue, or all throw the error of the lowest rank that
// failed, with its number: CheckpointError with its reason, file and problem, UsageError, OutOfMemory,
// otherwise Error. No rank waits for one that has failed.
//
// Thread safety: the server's thread, between phases.
class CheckpointAgreement {
 public:
  // `call`: a literal that names the step in errors. The server outlives the object.
  CheckpointAgreement(ParameterServer& server, std::string_view call) : server_(server), call_(call) {}

  // Collective. Returns the result of f() on every rank, by rank. f may throw and must make no collective
  // call.
  template <class F>
  auto exchange(F&& f) {
    using Value = std::remove_cvref_t<std::invoke_result_t<F>>;
    std::vector<Value> values;
    for (const std::string& one : exchange_archives([&] { return to_archive<Value>(f()); }))
      values.push_back(from_archive<Value>(one));
    return values;
  }
  // Collective. Like exchange, for an f that returns nothing.
  void run(const std::function<void()>& f) {
    exchange_archives([&] {
      f();
      return std::string();
    });
  }
  // Collective. Throws CollectiveMismatch on every rank unless all give equal texts.
  void require_equal(const std::string& text) {
    require_equal(exchange([&] { return text; }));
  }
  // The same for texts that are known already, by rank.
  void require_equal(const std::vector<std::string>& texts);
  // Collective. Throws `error` on every rank, and lets the server know that every rank does.
  [[noreturn]] void throw_everywhere(const std::exception_ptr& error);

 private:
  std::vector<std::string> exchange_archives(const std::function<std::string()>& make);

  ParameterServer& server_;
  std::string_view call_;
};

}  // namespace lapse
