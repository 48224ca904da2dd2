// How the learning rate decreases, and when training ends.
#include "apps/knowledge_graph_embeddings/training_schedule.hpp"

#include "test/support/catch.hpp"

using namespace lapse::apps;

TEST_CASE("by default the learning rate stays, exactly, and training never ends early") {
  TrainingSchedule schedule({});
  for (std::uint64_t epoch = 0; epoch < 100; ++epoch) {
    CHECK(schedule.rate(epoch) == 1.0F);
    schedule.observe(0);
    CHECK_FALSE(schedule.is_finished());
  }
}

TEST_CASE("the learning rate falls with the epochs, and where the quality does not improve") {
  TrainingSchedule schedule({.rate_decay = 0.5, .plateau_decay = 0.25});
  CHECK(schedule.rate(0) == 1);
  CHECK(schedule.rate(3) == 0.125F);
  CHECK(schedule.observe(0.1));
  CHECK(schedule.rate(1) == 0.5F);
  CHECK_FALSE(schedule.observe(0.1));
  CHECK(schedule.rate(1) == 0.125F);
  CHECK(schedule.observe(0.2));
  CHECK(schedule.rate(1) == 0.125F);
}

TEST_CASE("training ends after as many evaluations without improvement as there is patience for") {
  TrainingSchedule schedule({.patience = 2});
  CHECK(schedule.observe(0.3));
  CHECK_FALSE(schedule.observe(0.2));
  CHECK_FALSE(schedule.is_finished());
  CHECK(schedule.observe(0.4));
  CHECK_FALSE(schedule.observe(0.35));
  CHECK_FALSE(schedule.is_finished());
  CHECK_FALSE(schedule.observe(0.36));
  CHECK(schedule.is_finished());
}
