// Collective calls of the control plane: every rank states its call and a value, and gets the values of all.
#pragma once

#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "lapse/ps/agreement/archive.hpp"
#include "lapse/transport/transport.hpp"

namespace lapse {

class StallReports;

// If a rank cannot make a collective call, or makes another one, the call ends with an error on every rank
// instead of a hang. Exchanged values have `serialize`; see archive.hpp.
//
// Thread safety: one thread, while no engine runs.
class Agreement {
 public:
  // `reports`: reports waits for missing ranks; null: none.
  explicit Agreement(Transport& transport, const StallReports* reports = nullptr)
      : transport_(transport), reports_(reports) {}

  // Collective. Exchanges the results of make() and returns them, by rank. If make throws, this rank throws
  // the same after the exchange, and every other rank throws PeerFailed with its message. Throws
  // CollectiveMismatch on every rank if the names of the ranks' calls differ.
  template <std::invocable Make>
  auto exchange(std::string_view call, Make&& make) {
    using Value = std::remove_cvref_t<std::invoke_result_t<Make>>;
    std::vector<Value> all;
    for (const std::string& one : exchange_archives(call, [&] { return to_archive<Value>(make()); }))
      all.push_back(from_archive<Value>(one));
    return all;
  }
  template <class Value>
  std::vector<Value> exchange(std::string_view call,
                              const Value& mine) requires(!std::invocable<const Value&>) {
    return exchange(call, [&]() -> const Value& { return mine; });
  }

  // Throws Failure on every rank, unless every rank gave the value of rank 0. The message is difference(value
  // of rank 0, value of the rank, number of the rank) for the first rank whose value differs.
  template <class Failure, class Value, class Difference>
  void require_equal(const std::vector<Value>& all, Difference&& difference) {
    for (std::size_t rank = 1; rank < all.size(); ++rank)
      if (!(all[rank] == all[0])) fail_everywhere(Failure(difference(all[0], all[rank], rank)));
  }

  // Throws `failure`. Every other rank must do the same.
  template <class Failure>
  [[noreturn]] void fail_everywhere(Failure failure) {
    failed_everywhere_ = true;
    throw failure;
  }

  // Returns true if the last collective call failed and every rank threw.
  bool failed_everywhere() const { return failed_everywhere_; }

 private:
  struct Statement;

  std::vector<std::string> exchange_archives(std::string_view call, const std::function<std::string()>& make);
  // Stores the exception of make() in `failure`; does not throw itself.
  static void fill(Statement& mine, const std::function<std::string()>& make,
                   std::exception_ptr& failure) noexcept;
  // Collective. Throws CollectiveMismatch.
  std::vector<Statement> gather(const Statement& mine);

  Transport& transport_;
  const StallReports* reports_;
  bool failed_everywhere_ = false;
};

}  // namespace lapse
