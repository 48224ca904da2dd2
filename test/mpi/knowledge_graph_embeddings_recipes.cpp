// The parts of better recipes: losses, kinds of negatives, optimisers, early stopping.
#include <mpi.h>

#include <algorithm>
#include <string>
#include <vector>

#include "apps/common/manager_program.hpp"
#include "apps/knowledge_graph_embeddings/embedding_files.hpp"
#include "apps/knowledge_graph_embeddings/trainer.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/statistics.hpp"
#include "lapse/io/npy/npy_reader.hpp"
#include "test/mpi/knowledge_graph_embeddings_graph.hpp"
#include "test/support/catch.hpp"
#include "test/unit/io_temporary_file.hpp"

using namespace lapse;
using namespace lapse::apps;
using lapse::test::planted_graph;

namespace {

TrainingOptions small_recipe(TrainingMode mode) {
  TrainingOptions options;
  options.tables = "";  // new names for every trainer
  options.model.dimensions = 8;
  options.reciprocal = true;
  options.runner.mode = mode;
  options.runner.batch = 4;
  options.runner.loss = {.kind = LossKind::softmax, .l2 = 0, .n3 = 0.001};
  options.runner.negatives = {.per_side = 16, .sharing = NegativeSharing::batch};
  return options;
}

double reached(const KnowledgeGraph& graph, const TrainingOptions& options) {
  adapm::ParameterManager manager(MPI_COMM_WORLD, {.server = Options::from_environment(),
                                                   .technique = options.runner.mode == TrainingMode::intent
                                                                    ? adapm::Technique::adaptive
                                                                    : adapm::Technique::localize});
  Trainer trainer(manager, graph, options);
  trainer.run();
  CHECK(trainer.epochs().back().loss < trainer.epochs().front().loss);
  const double quality = trainer.epochs().back().evaluation->test.all.mean_reciprocal_rank;
  manager.close();
  return quality;
}

}  // namespace

TEST_CASE("every loss learns with every kind of negatives, with and without reciprocal relations") {
  TrainingOptions options = small_recipe(GENERATE(TrainingMode::clustering, TrainingMode::intent));
  // Enough to leave the plateau after a first epoch with stale replicas (on busy machines), too.
  options.epochs = options.evaluate_every = 40;
  options.optimiser.learning_rate = 0.2;
  options.runner.loss.kind = GENERATE(LossKind::logistic, LossKind::softmax);
  options.runner.negatives.sharing =
      GENERATE(NegativeSharing::none, NegativeSharing::batch, NegativeSharing::all);
  options.reciprocal = GENERATE(false, true);
  CAPTURE(static_cast<int>(options.runner.mode), static_cast<int>(options.runner.loss.kind),
          static_cast<int>(options.runner.negatives.sharing), options.reciprocal);
  // A random order has a mean reciprocal rank below 0.1.
  CHECK(reached(planted_graph(), options) > 0.5);
}

TEST_CASE("Adam, dropout and a falling learning rate learn, too") {
  TrainingOptions options = small_recipe(GENERATE(TrainingMode::combined, TrainingMode::intent));
  options.epochs = options.evaluate_every = 40;
  options.optimiser = {.kind = OptimiserKind::adam, .learning_rate = 0.02};
  options.schedule.rate_decay = 0.97;
  options.runner.loss.dropout = {.entity = 0.1, .relation = 0.1};
  CHECK(reached(planted_graph(), options) > 0.7);
}

TEST_CASE("with patience training ends early, and leaves the best embeddings") {
  const KnowledgeGraph graph = planted_graph();
  adapm::ParameterManager manager(MPI_COMM_WORLD, {.server = Options::from_environment()});
  TrainingOptions options = small_recipe(GENERATE(TrainingMode::classic, TrainingMode::intent));
  options.epochs = 200;
  options.evaluate_every = 2;
  options.schedule = {.plateau_decay = 0.5, .patience = 3};
  Trainer trainer(manager, graph, options);
  CHECK(trainer.evaluated() == nullptr);
  trainer.run();
  const std::size_t epochs = trainer.epochs().size();
  REQUIRE(epochs < options.epochs);
  CHECK(trainer.evaluated()->epoch == epochs - std::size_t{3} * 2);
  const auto quality_of = [](const EpochRecord& record) {
    return record.evaluation ? record.evaluation->valid.all.mean_reciprocal_rank : 0;
  };
  for (const EpochRecord& record : trainer.epochs()) {
    CHECK(quality_of(record) <= quality_of(*trainer.evaluated()));
    if (record.evaluation)
      CHECK((record.evaluation->test.all.ranks != 0) == (&record == trainer.evaluated()));
  }
  const Evaluation after = trainer.evaluate();
  CHECK(after.valid.all.mean_reciprocal_rank == Approx(quality_of(*trainer.evaluated())).epsilon(1e-12));
  CHECK(after.test.all.mean_reciprocal_rank ==
        Approx(trainer.evaluated()->evaluation->test.all.mean_reciprocal_rank).epsilon(1e-12));
  manager.close();
}

TEST_CASE("clustering keeps the inverse of a relation with the relation") {
  const KnowledgeGraph graph = planted_graph();
  adapm::ParameterManager manager(
      MPI_COMM_WORLD, {.server = Options::from_environment(), .technique = adapm::Technique::localize});
  Trainer trainer(manager, graph, small_recipe(TrainingMode::clustering));
  trainer.run_epoch();
  const TableCounters relations = manager.server().statistics().table_total(trainer.tables().relations.id());
  CHECK(relations.local_pulls > 0);
  CHECK(relations.remote_pulls + relations.remote_pushes + relations.queued_accesses == 0);
  manager.close();
}

TEST_CASE("the files have the embeddings of inverse relations behind those of the relations") {
  const KnowledgeGraph graph = planted_graph();
  adapm::ParameterManager manager(MPI_COMM_WORLD, {.server = Options::from_environment()});
  Trainer trainer(manager, graph, small_recipe(TrainingMode::clustering));
  run_on_rank_0(manager.server(), [&](Worker& worker) {
    const lapse::test::TemporaryDirectory directory;
    const std::string prefix = directory / "out";
    EmbeddingFiles(prefix, graph, trainer.options().model, trainer.form()).write(worker, trainer.tables());
    CHECK(io::read_npy<float>(prefix + "-relations.npy").shape == io::NpyShape{6, 16});
  });
  manager.close();
}

TEST_CASE("more shared negatives than entities, or nothing to be patient with, are errors on every rank") {
  const KnowledgeGraph graph = make_graph(5, 1, {{0, 0, 1}});
  adapm::ParameterManager manager(MPI_COMM_WORLD, {.server = Options::from_environment()});
  TrainingOptions options = small_recipe(TrainingMode::classic);
  CHECK_THROWS_AS(Trainer(manager, graph, options), ConfigurationError);
  options.runner.negatives.per_side = 5;
  options.schedule.patience = 1;
  CHECK_THROWS_AS(Trainer(manager, graph, options), ConfigurationError);
  options.schedule = {};
  CHECK_NOTHROW(Trainer(manager, graph, options).run_epoch());
  manager.close();
}
