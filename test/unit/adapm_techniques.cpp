#include "adapm/management/techniques.hpp"

#include "test/support/catch.hpp"

using namespace adapm;
using lapse::Key;
using lapse::ManagementPolicy;
using lapse::TableId;
using Wanted = ManagementPolicy::Wanted;
using Decision = ManagementPolicy::Decision;

namespace {

constexpr TableId kReplicated{2};
constexpr TableId kOther{1};

struct Expected {
  Technique technique;
  Wanted replicated;  // for a key of a table that may have replicas
  Wanted other;       // for a key of another table
  Decision decision;
  bool keeps;  // a replica of a key of a table that may have replicas
};

}  // namespace

TEST_CASE("What each technique does about a key that a domain wants") {
  for (const auto& [technique, replicated, other, decision, keeps] : {
           Expected{Technique::adaptive, Wanted::announce, Wanted::localize, Decision::offer, true},
           Expected{Technique::immediate, Wanted::announce, Wanted::localize, Decision::offer, true},
           Expected{Technique::relocation_only, Wanted::localize, Wanted::localize, Decision::serve, false},
           Expected{Technique::replication_only, Wanted::announce, Wanted::localize, Decision::serve, true},
           Expected{Technique::full_replication, Wanted::announce, Wanted::nothing, Decision::serve, true},
           Expected{Technique::nups, Wanted::localize, Wanted::localize, Decision::serve, false},
           Expected{Technique::static_partitioning, Wanted::nothing, Wanted::nothing, Decision::serve, false},
           Expected{Technique::localize, Wanted::nothing, Wanted::nothing, Decision::serve, false},
       }) {
    INFO(to_string(technique));
    const auto policy = make_policy(technique);
    policy->allow_replicas(kReplicated);
    CHECK(policy->wanted(kReplicated, Key(5), false) == replicated);
    CHECK(policy->wanted(kOther, Key(5), false) == other);
    CHECK(policy->wanted(TableId(100), Key(5), false) == other);
    CHECK(policy->decide(kReplicated, Key(5)) == decision);
    CHECK(policy->keeps(kReplicated, Key(5)) == keeps);
    CHECK_FALSE(policy->keeps(kOther, Key(5)));
  }
}

TEST_CASE("A key that is likely to be wanted by no other domain is localized at once") {
  AdaptivePolicy policy;
  policy.allow_replicas(kReplicated);
  CHECK(policy.wanted(kReplicated, Key(5), true) == Wanted::localize);
  CHECK(policy.wanted(kOther, Key(5), true) == Wanted::localize);
  // No other technique announces such keys.
  ReplicationPolicy replication(true);
  replication.allow_replicas(kReplicated);
  CHECK(replication.wanted(kReplicated, Key(5), true) == Wanted::announce);
}

TEST_CASE("NuPS replicates the frequent keys and relocates the others") {
  FixedChoicePolicy policy;
  policy.allow_replicas(kReplicated);
  const std::vector<Key> frequent{Key(3), Key(8)};
  policy.set_frequent(kReplicated, frequent);
  policy.set_frequent(kOther, frequent);
  for (std::uint64_t key = 0; key < 10; ++key) {
    const bool is_frequent = key == 3 || key == 8;
    CHECK(policy.is_frequent(kReplicated, Key(key)) == is_frequent);
    CHECK(policy.keeps(kReplicated, Key(key)) == is_frequent);
    CHECK(policy.wanted(kReplicated, Key(key), false) == (is_frequent ? Wanted::announce : Wanted::localize));
    CHECK(policy.wanted(kOther, Key(key), false) == Wanted::localize);
  }
  CHECK(policy.decide(kReplicated, Key(3)) == Decision::serve);
}

TEST_CASE("Techniques have names and traits") {
  CHECK(to_string(Technique::adaptive) == "adaptive");
  CHECK(to_string(Technique::localize) == "localize");
  for (const Technique technique :
       {Technique::static_partitioning, Technique::localize, Technique::full_replication})
    CHECK_FALSE(traits(technique).acts_on_intents);
  CHECK(traits(Technique::immediate).acts_on_intents);
  CHECK_FALSE(traits(Technique::immediate).times_actions);
  CHECK(traits(Technique::nups).replicates_always);
  CHECK_FALSE(traits(Technique::replication_only).replicates_always);
}
