#include "test/support/random_policy.hpp"

#include <array>

namespace lapse::test {

std::string_view to_string(Technique technique) {
  constexpr std::array<std::string_view, kTechniques> kNames{"adaptive", "relocation", "replication",
                                                             "adversarial"};
  return kNames[static_cast<std::size_t>(technique)];
}

ManagementPolicy::Wanted RandomPolicy::wanted(TableId table, Key, bool) const {
  const bool adversarial = technique_ == Technique::adversarial;
  if (!replicable_.at(table.value())) {
    return adversarial && draw(3) == 0 ? Wanted::nothing : Wanted::localize;
  }
  if (technique_ == Technique::relocate) return Wanted::localize;
  if (!adversarial) return Wanted::announce;
  // Keys are mostly announced: without an announcement there is no decision to make.
  constexpr std::array<Wanted, 4> kAnswers{Wanted::nothing, Wanted::localize, Wanted::announce,
                                           Wanted::announce};
  return kAnswers[draw(kAnswers.size())];
}

ManagementPolicy::Decision RandomPolicy::decide(TableId, Key) const {
  switch (technique_) {
    case Technique::replicate:
      return Decision::serve;
    case Technique::adversarial:
      return draw(2) == 0 ? Decision::serve : Decision::offer;
    case Technique::adaptive:
    case Technique::relocate:
      break;
  }
  return Decision::offer;
}

bool RandomPolicy::keeps(TableId table, Key) const {
  if (technique_ == Technique::relocate || !replicable_.at(table.value())) return false;
  return technique_ != Technique::adversarial || draw(4) != 0;
}

}  // namespace lapse::test
