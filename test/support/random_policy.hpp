// Management policies for tests, which decide about keys that domains want.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "lapse/core/random.hpp"
#include "lapse/protocol/table/management_policy.hpp"

namespace lapse::test {

enum class Technique { adaptive, relocate, replicate, adversarial };
inline constexpr int kTechniques = 4;

std::string_view to_string(Technique technique);

// Adversarial: draws any answer that a policy may give, at each question. Keys of tables that cannot be
// replicated are localized, whatever the technique.
//
// Thread safety: any thread.
class RandomPolicy final : public ManagementPolicy {
 public:
  // `replicable`: by table.
  RandomPolicy(Technique technique, std::vector<bool> replicable, std::uint64_t seed)
      : technique_(technique), replicable_(std::move(replicable)), state_(seed) {}

  Wanted wanted(TableId table, Key key, bool likely_alone) const override;
  Decision decide(TableId table, Key key) const override;
  bool keeps(TableId table, Key key) const override;

 private:
  std::uint64_t draw(std::uint64_t bound) const {
    return mix_bits(state_.fetch_add(kGoldenGamma, std::memory_order_relaxed)) % bound;
  }

  const Technique technique_;
  const std::vector<bool> replicable_;
  mutable std::atomic<std::uint64_t> state_;  // state of SplitMix64
};

}  // namespace lapse::test
