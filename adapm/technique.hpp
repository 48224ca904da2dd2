// Techniques of managing keys: AdaPM's own, and those that it is compared with.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace adapm {

enum class Technique : std::uint8_t {
  adaptive,             // relocates a key that one domain wants, replicates a key that several want
  immediate,            // like adaptive, except that intents are acted on as soon as they are signaled
  relocation_only,      // relocates a key to the domain that wants it; if several do, to the last one
  replication_only,     // keys stay where they are; every domain that wants one has a replica
  nups,                 // a fixed choice per key: frequent keys replicated everywhere, others relocated
  full_replication,     // every domain has every key or a replica of it
  static_partitioning,  // keys stay at their homes
  localize,             // only the application relocates keys (Worker::localize)
};

inline constexpr std::array kTechniques{Technique::adaptive,
                                        Technique::immediate,
                                        Technique::relocation_only,
                                        Technique::replication_only,
                                        Technique::nups,
                                        Technique::full_replication,
                                        Technique::static_partitioning,
                                        Technique::localize};

// What a technique does with intents.
struct TechniqueTraits {
  std::string_view name;
  bool acts_on_intents;    // false: they are only counted
  bool times_actions;      // acts when an intent is due, not when signaled (AdaPM paper, section 4.2)
  bool chooses_frequent;   // chooses keys by how often they are accessed
  bool replicates_always;  // on every domain, from the start: the chosen keys, or all keys
};

constexpr TechniqueTraits traits(Technique technique) {
  switch (technique) {
    case Technique::adaptive:
      return {"adaptive", true, true, false, false};
    case Technique::immediate:
      return {"immediate", true, false, false, false};
    case Technique::relocation_only:
      return {"relocation_only", true, true, false, false};
    case Technique::replication_only:
      return {"replication_only", true, true, false, false};
    case Technique::nups:
      return {"nups", true, true, true, true};
    case Technique::full_replication:
      return {"full_replication", false, false, false, true};
    case Technique::static_partitioning:
      return {"static_partitioning", false, false, false, false};
    case Technique::localize:
      break;
  }
  return {"localize", false, false, false, false};
}

// Whether the technique ever wants a key. If not, there are no rounds.
constexpr bool wants_keys(Technique technique) {
  return traits(technique).acts_on_intents || traits(technique).replicates_always;
}

// Whether every key that several domains want has replicas.
constexpr bool replicates_wanted(Technique technique) {
  return technique != Technique::relocation_only && technique != Technique::nups &&
         technique != Technique::static_partitioning && technique != Technique::localize;
}

constexpr std::string_view to_string(Technique technique) {
  return traits(technique).name;
}

}  // namespace adapm
