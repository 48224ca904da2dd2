// Knowledge graph embeddings on several ranks.
#include <mpi.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "apps/common/manager_program.hpp"
#include "apps/common/table_reader.hpp"
#include "apps/knowledge_graph_embeddings/embedding_files.hpp"
#include "apps/knowledge_graph_embeddings/trainer.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/statistics.hpp"
#include "lapse/io/npy/npy_reader.hpp"
#include "test/mpi/knowledge_graph_embeddings_graph.hpp"
#include "test/mpi/server_domains.hpp"
#include "test/support/catch.hpp"
#include "test/unit/io_temporary_file.hpp"

using namespace lapse;
using namespace lapse::apps;
using lapse::test::planted_graph;

namespace {

TrainingOptions small_training(TrainingMode mode) {
  TrainingOptions options;
  options.tables = "";  // new names for every trainer
  options.model.dimensions = 8;
  options.epochs = 25;
  options.evaluate_every = 25;
  options.runner.mode = mode;
  options.runner.batch = 4;
  return options;
}

// Numbers of workers to try, for this number of ranks: equal numbers on all ranks, all workers on the last
// rank, none on the last rank.
std::vector<std::vector<std::int32_t>> worker_layouts(std::int32_t ranks) {
  std::vector<std::vector<std::int32_t>> layouts{{1}, {2}};
  if (ranks == 1) return layouts;
  const auto others = static_cast<std::size_t>(ranks) - 1;
  std::vector<std::int32_t> last_only(others, 0);
  last_only.push_back(2);
  std::vector<std::int32_t> not_last(others, 1);
  not_last.push_back(0);
  layouts.push_back(last_only);
  layouts.push_back(not_last);
  return layouts;
}

std::vector<float> values_of(ParameterServer& server, const Table<float>& table) {
  std::vector<float> all;
  server.run_workers(1, [&](Worker& worker) {
    read_keys(worker, table, 0, table.keys(),
              [&](std::span<const float> values) { all.insert(all.end(), values.begin(), values.end()); });
  });
  return all;
}

std::uint64_t remote_accesses(const TableCounters& counters) {
  return counters.remote_pulls + counters.remote_pushes + counters.queued_accesses;
}

void check_equal(const SplitMetrics& a, const SplitMetrics& b) {
  CHECK(a.all.ranks == b.all.ranks);
  CHECK(a.all.mean_reciprocal_rank == Approx(b.all.mean_reciprocal_rank).epsilon(1e-12));
  CHECK(a.all.hits_at_1 == Approx(b.all.hits_at_1));
  CHECK(a.all.hits_at_3 == Approx(b.all.hits_at_3));
  CHECK(a.all.hits_at_10 == Approx(b.all.hits_at_10));
  CHECK(a.seen.ranks == b.seen.ranks);
  CHECK(a.seen.mean_reciprocal_rank == Approx(b.seen.mean_reciprocal_rank).epsilon(1e-12));
}

}  // namespace

TEST_CASE("every way to train learns the structure of a graph") {
  const KnowledgeGraph graph = planted_graph();
  const TrainingMode mode = GENERATE(TrainingMode::classic, TrainingMode::clustering,
                                     TrainingMode::latency_hiding, TrainingMode::combined);
  CAPTURE(static_cast<int>(mode));
  const DomainMap domains = lapse::test::domains_of_world();
  adapm::ParameterManager manager{MPI_COMM_WORLD};
  ParameterServer& server = manager.server();
  for (const auto& workers : worker_layouts(server.ranks())) {
    TrainingOptions options = small_training(mode);
    options.workers = workers;
    Trainer trainer(manager, graph, options);
    trainer.run();
    REQUIRE(trainer.epochs().size() == options.epochs);
    const EpochRecord& last = trainer.epochs().back();
    // A random order of the entities that are not filtered has a mean reciprocal rank below 0.1.
    CHECK(last.evaluation->test.all.mean_reciprocal_rank > 0.7);
    CHECK(last.evaluation->valid.all.mean_reciprocal_rank > 0.7);
    CHECK(last.evaluation->test.all.ranks == 2 * graph.test.size());
    CHECK(last.loss < trainer.epochs().front().loss / 2);
    CHECK_FALSE(trainer.epochs().front().evaluation);
    const Statistics statistics = server.statistics();
    const TableCounters relations = statistics.table_total(trainer.tables().relations.id());
    const TableCounters entities = statistics.table_total(trainer.tables().entities.id());
    const bool moves_entities = localizes_entities(mode) && domains.domains() > 1;
    CHECK((entities.relocations_in > 0) == moves_entities);
    if (clustering_of(mode) == TripleClustering::none) CHECK(relations.relocations_in == 0);
    // The evaluation reads all relations from every rank, once.
    if (clustering_of(mode) == TripleClustering::by_relation)
      CHECK(remote_accesses(relations) <= static_cast<std::uint64_t>(server.ranks()) * graph.relations);
    if (!moves_entities && domains.domains() > 1) CHECK(remote_accesses(entities) > 0);
  }
}

TEST_CASE("every model learns the structure of a graph") {
  const KnowledgeGraph graph = planted_graph();
  const ModelKind kind =
      GENERATE(ModelKind::complex, ModelKind::distmult, ModelKind::rescal, ModelKind::transe);
  CAPTURE(static_cast<int>(kind));
  adapm::ParameterManager manager{MPI_COMM_WORLD};
  TrainingOptions options = small_training(TrainingMode::combined);
  options.model.kind = kind;
  options.model.dimensions = 12;
  options.model.margin = 0.5;
  options.epochs = options.evaluate_every = 60;
  options.runner.negatives.per_side = 4;
  options.runner.negatives.sharing = GENERATE(NegativeSharing::none, NegativeSharing::batch);
  Trainer trainer(manager, graph, options);
  const Evaluation before = trainer.evaluate();
  trainer.run();
  const Evaluation& after = *trainer.epochs().back().evaluation;
  CHECK(before.test.all.mean_reciprocal_rank < 0.2);
  // DistMult cannot distinguish the next group from the previous group.
  CHECK(after.test.all.mean_reciprocal_rank > (kind == ModelKind::distmult ? 0.4 : 0.7));
}

TEST_CASE("with one worker, every way to train gives the same values, bit for bit, on every rank") {
  const KnowledgeGraph graph = planted_graph();
  adapm::ParameterManager manager{MPI_COMM_WORLD};
  ParameterServer& server = manager.server();
  std::vector<float> entities;
  std::vector<float> relations;
  for (const bool on_last : {false, true}) {
    for (const TrainingMode mode : {TrainingMode::classic, TrainingMode::clustering,
                                    TrainingMode::latency_hiding, TrainingMode::combined}) {
      TrainingOptions options = small_training(mode);
      options.workers.assign(static_cast<std::size_t>(server.ranks()), 0);
      options.workers.at(on_last ? options.workers.size() - 1 : 0) = 1;
      options.epochs = 2;
      options.runner.prefetch = 0;
      Trainer trainer(manager, graph, options);
      trainer.run();
      if (entities.empty()) {
        entities = values_of(server, trainer.tables().entities);
        relations = values_of(server, trainer.tables().relations);
      }
      CAPTURE(on_last, static_cast<int>(mode));
      CHECK((values_of(server, trainer.tables().entities) == entities));
      CHECK((values_of(server, trainer.tables().relations) == relations));
    }
  }
}

TEST_CASE("the evaluation is that of one thread, however many workers there are") {
  const KnowledgeGraph graph = planted_graph();
  adapm::ParameterManager manager{MPI_COMM_WORLD};
  ParameterServer& server = manager.server();
  Trainer trainer(manager, graph, small_training(TrainingMode::combined));
  trainer.run_epoch();
  const std::vector<float> entities = values_of(server, trainer.tables().entities);
  const std::vector<float> relations = values_of(server, trainer.tables().relations);
  const KnownTriples known(graph);
  RankingSums sums;
  const Ranker ranker(trainer.model(), trainer.form(), known);
  for (const double rank : ranker.ranks(graph.test, {entities, relations})) sums.add(rank);
  const RankingMetrics alone = sums.metrics();
  const Evaluator evaluator(graph, trainer.model(), trainer.form());
  for (const std::int32_t workers : {0, 1, 3}) {
    const Evaluation evaluation = evaluator.evaluate(server, workers, trainer.tables());
    check_equal(evaluation.test, {alone, alone});
    CHECK(evaluation.valid.all.ranks == 2 * graph.valid.size());
  }
}

TEST_CASE("triples with entities that were never seen are also evaluated apart") {
  KnowledgeGraph graph = planted_graph();
  std::vector<Triple> test = graph.test;
  test.push_back({64, 0, 1});
  test.push_back({2, 1, 65});
  graph = make_graph(66, 3, graph.train, graph.valid, test);
  adapm::ParameterManager manager{MPI_COMM_WORLD};
  Trainer trainer(manager, graph, small_training(TrainingMode::combined));
  trainer.run_epoch();
  const Evaluation evaluation = trainer.evaluate();
  CHECK(evaluation.test.all.ranks == 2 * test.size());
  CHECK(evaluation.test.seen.ranks == 2 * test.size() - 4);
  check_equal({evaluation.valid.all, evaluation.valid.all}, evaluation.valid);
}

TEST_CASE("the files of the embeddings hold the values of the tables") {
  const KnowledgeGraph graph = planted_graph();
  adapm::ParameterManager manager{MPI_COMM_WORLD};
  ParameterServer& server = manager.server();
  Trainer trainer(manager, graph, small_training(TrainingMode::combined));
  trainer.run_epoch();
  const std::vector<float> entities = values_of(server, trainer.tables().entities);
  const std::vector<float> relations = values_of(server, trainer.tables().relations);
  run_on_rank_0(server, [&](Worker& worker) {
    const lapse::test::TemporaryDirectory directory;
    const std::string prefix = directory / "out";
    EmbeddingFiles files(prefix, graph, trainer.options().model, trainer.form());
    CHECK_FALSE(std::filesystem::exists(prefix + "-entities.npy"));
    files.write(worker, trainer.tables());
    const auto written_entities = io::read_npy<float>(prefix + "-entities.npy");
    const auto written_relations = io::read_npy<float>(prefix + "-relations.npy");
    CHECK(written_entities.shape == io::NpyShape{64, 16});
    CHECK(written_relations.shape == io::NpyShape{3, 16});
    CHECK(written_entities.values == entities);
    CHECK(written_relations.values == relations);
  });
}

TEST_CASE("fewer triples than workers, no negatives and large windows simply work") {
  const KnowledgeGraph graph = make_graph(5, 2, {{0, 0, 1}, {1, 1, 1}}, {}, {{0, 0, 1}});
  const TrainingMode mode = GENERATE(TrainingMode::classic, TrainingMode::combined);
  adapm::ParameterManager manager{MPI_COMM_WORLD};
  TrainingOptions options = small_training(mode);
  options.workers = {3};
  options.epochs = 3;
  options.runner.negatives.per_side = GENERATE(0, 2);
  options.runner.lookahead = 50;
  options.runner.prefetch = 60;
  Trainer trainer(manager, graph, options);
  trainer.run();
  CHECK(trainer.epochs().size() == 3);
  CHECK(std::isfinite(trainer.epochs().back().loss));
}

TEST_CASE("impossible options and diverging training are errors on every rank") {
  const KnowledgeGraph graph = planted_graph();
  adapm::ParameterManager manager{MPI_COMM_WORLD};
  ParameterServer& server = manager.server();
  TrainingOptions options = small_training(TrainingMode::combined);
  options.workers = {0};
  CHECK_THROWS_AS(Trainer(manager, graph, options), ConfigurationError);
  options.workers.assign(static_cast<std::size_t>(server.ranks()) + 1, 1);
  CHECK_THROWS_AS(Trainer(manager, graph, options), ConfigurationError);
  options.workers = {1};
  options.optimiser.learning_rate = 1e30;
  Trainer trainer(manager, graph, options);
  CHECK_THROWS_WITH(trainer.run(), Catch::Matchers::Contains("diverged in epoch"));
}
