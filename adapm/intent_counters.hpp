// Counters of intents and samples, of one rank and of all ranks.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "adapm/remote_causes.hpp"
#include "lapse/core/export.hpp"

namespace adapm {

// Of one rank, since the start.
struct LAPSE_EXPORT IntentCounters {
  std::uint64_t rounds = 0;
  std::uint64_t advances = 0;
  std::uint64_t clocks = 0;
  std::uint64_t intents = 0;
  std::uint64_t keys = 0;
  std::uint64_t read_only_keys = 0;
  std::uint64_t ignored_intents = 0;
  std::uint64_t dropped_intents = 0;
  std::uint64_t actionable_intents = 0;
  std::uint64_t actionable_keys = 0;
  std::uint64_t late_intents = 0;
  std::uint64_t lead_clocks = 0;
  std::uint64_t lead_max_clocks = 0;
  std::uint64_t permanent_keys = 0;
  std::uint64_t samples = 0;
  std::uint64_t sampled_keys = 0;
  std::uint64_t postponed_keys = 0;
  std::uint64_t remote_draws = 0;

  // Adds sums, and takes the larger of two maxima.
  IntentCounters& operator+=(const IntentCounters& other);
  bool operator==(const IntentCounters&) const = default;

  // Mean number of clocks that a worker advances in a round, over rounds in which it advances; 0 before the
  // first.
  double clocks_per_round() const;
  // Mean number of clocks between an intent's activation and its start; 0 before the first.
  double mean_lead() const;

  template <class Archive>
  void serialize(Archive& archive, unsigned);
};

struct IntentCounterField {
  std::string_view name;
  std::uint64_t IntentCounters::*member;
  std::string_view meaning;
  bool is_maximum = false;
};

// clang-format off
inline constexpr std::array kIntentCounterFields{
    IntentCounterField{"rounds", &IntentCounters::rounds, "rounds that were begun"},
    IntentCounterField{"advances", &IntentCounters::advances, "rounds in which a worker's clock had advanced, summed over workers"},
    IntentCounterField{"clocks", &IntentCounters::clocks, "clocks that workers have advanced"},
    IntentCounterField{"intents", &IntentCounters::intents, "intents that were signaled"},
    IntentCounterField{"keys", &IntentCounters::keys, "keys in them"},
    IntentCounterField{"read_only_keys", &IntentCounters::read_only_keys, "of these, keys that are only read"},
    IntentCounterField{"ignored_intents", &IntentCounters::ignored_intents, "of the intents, those that had ended when they were signaled"},
    IntentCounterField{"dropped_intents", &IntentCounters::dropped_intents, "intents that ended before they became actionable"},
    IntentCounterField{"actionable_intents", &IntentCounters::actionable_intents, "intents that were acted on"},
    IntentCounterField{"actionable_keys", &IntentCounters::actionable_keys, "keys in them, each counted once in an intent"},
    IntentCounterField{"late_intents", &IntentCounters::late_intents, "of the intents that were acted on, those whose start had passed"},
    IntentCounterField{"lead_clocks", &IntentCounters::lead_clocks, "clocks before their start at which intents were acted on, sum"},
    IntentCounterField{"lead_max_clocks", &IntentCounters::lead_max_clocks, "the same, largest", true},
    IntentCounterField{"permanent_keys", &IntentCounters::permanent_keys, "keys that the technique keeps on every domain, as far as this rank serves them"},
    IntentCounterField{"samples", &IntentCounters::samples, "samples that were prepared"},
    IntentCounterField{"sampled_keys", &IntentCounters::sampled_keys, "keys that were taken from them"},
    IntentCounterField{"postponed_keys", &IntentCounters::postponed_keys, "keys of samples that were not local in their turn, and put behind others"},
    IntentCounterField{"remote_draws", &IntentCounters::remote_draws, "keys that the scheme local drew although they are not local"},
};
// clang-format on

// The table has every field.
static_assert(sizeof(IntentCounters) == kIntentCounterFields.size() * sizeof(std::uint64_t));

template <class Archive>
void IntentCounters::serialize(Archive& archive, unsigned) {
  for (const IntentCounterField& field : kIntentCounterFields) archive& this->*field.member;
}

// Of all ranks. Plain data.
struct LAPSE_EXPORT IntentStatistics {
  std::vector<IntentCounters> ranks;  // by Rank
  std::vector<RemoteCauses> causes;   // of all ranks, by table

  IntentCounters total() const;

  // Adds the causes of one rank.
  void add_causes(const std::vector<RemoteCauses>& more);

  // {"total": {..., "clocks_per_round": ..., "mean_lead": ...}, "per_rank": [{...}],
  //  "remote": [{"table": "...", "never_announced": ..., ...}]}
  std::string to_json() const;
  // For a person: "intents      90 were signaled, ...\n", and why keys were in other domains.
  std::string summary_lines() const;
  // One line for each counter: its name, the total over ranks, its meaning.
  std::string to_text() const;
};

}  // namespace adapm
