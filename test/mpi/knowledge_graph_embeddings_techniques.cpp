// Knowledge graph embeddings with intents, under every technique of management.
#include <mpi.h>

#include <cmath>

#include "apps/knowledge_graph_embeddings/trainer.hpp"
#include "test/mpi/application_techniques.hpp"
#include "test/mpi/knowledge_graph_embeddings_graph.hpp"

using namespace lapse;
using namespace lapse::apps;

TEST_CASE("knowledge graph embeddings learn under every technique") {
  const adapm::Technique technique = GENERATE(from_range(adapm::kTechniques));
  CAPTURE(adapm::to_string(technique));
  const KnowledgeGraph graph = lapse::test::planted_graph();
  adapm::ParameterManager manager(MPI_COMM_WORLD, lapse::test::options_with(technique));
  TrainingOptions options;
  options.workers = {2};
  options.model.dimensions = 8;
  // Where ranks share processors, replicas may be an epoch old: half of this number was sometimes too low.
  options.epochs = options.evaluate_every = 50;
  options.runner.mode = TrainingMode::intent;
  options.runner.batch = 4;
  Trainer trainer(manager, graph, options);
  trainer.run();
  CHECK(trainer.epochs().back().evaluation->test.all.mean_reciprocal_rank > 0.7);
  CHECK(trainer.epochs().back().loss < trainer.epochs().front().loss / 2);
  lapse::test::check_ways(technique, lapse::test::accesses_of(trainer));
  manager.close();
}

TEST_CASE("shared negatives may be more than a pool of the manager's options has") {
  const KnowledgeGraph graph = lapse::test::planted_graph();
  adapm::Options manager_options = lapse::test::options_with(adapm::Technique::adaptive);
  manager_options.sampling_pool_keys = 10;
  adapm::ParameterManager manager(MPI_COMM_WORLD, manager_options);
  TrainingOptions options;
  options.model.dimensions = 4;
  options.runner.mode = TrainingMode::intent;
  options.runner.negatives = {.per_side = 20, .sharing = NegativeSharing::batch};
  options.sampling = adapm::SamplingScheme::pool;
  Trainer trainer(manager, graph, options);
  CHECK(std::isfinite(trainer.run_epoch().loss));
  manager.close();
}
