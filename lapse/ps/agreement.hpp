// Collective calls of the control plane: everybody says what it is calling, and learns what the others say.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lapse/transport/transport.hpp"

namespace lapse {

// Makes a collective call that some rank cannot make, or makes differently, end with an error on every rank
// instead of a hang. Thread safety: one thread, while no engine runs.
class Agreement {
 public:
  explicit Agreement(Transport& transport) : transport_(transport) {}

  // Collective. Exchanges `mine` and returns what every rank gave, in rank order. `problem` says that this
  // rank cannot go on; then every other rank throws PeerFailed with this text, and this rank returns, to
  // throw its own error. Throws CollectiveMismatch, on every rank, when the ranks called by different names.
  std::vector<std::string> exchange(std::string_view call, const std::string& mine,
                                    const std::optional<std::string>& problem = std::nullopt);

  // The last collective call has failed, and every rank knows.
  bool failed_everywhere() const { return failed_everywhere_; }
  // The same, found by comparing what the ranks gave.
  void mark_failed_everywhere() { failed_everywhere_ = true; }

 private:
  Transport& transport_;
  bool failed_everywhere_ = false;
};

}  // namespace lapse
