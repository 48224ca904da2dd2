// Time of an epoch of knowledge graph embeddings: ComplEx of dimension 32 (64 floats) on a graph of 100,000
// random triples with 10,000 entities and 100 relations; 10 negatives for each side of a triple, batches of 8
// triples, Adagrad. Relations are localized once, entities ahead of their use.
//
//   case           ranks x workers of each  metric  baseline
//   1x1                    1 x 1            epoch   one loop in one thread over arrays
//   1x2                    1 x 2            epoch   the same
//   1x4                    1 x 4            epoch   the same; to compare with 4x1
//   2x1                    2 x 1            epoch   the same
//   4x1                    4 x 1            epoch   the same
//
// The baseline does the same arithmetic. One worker pulls no embeddings ahead, and the baseline uses the same
// order: then the losses must be equal, bit for bit. An epoch lasts from one barrier of all workers to the
// next. While the baseline runs on rank 0, the other ranks sleep in the server. 5 runs of one epoch. Prints
// losses and the share of local accesses to standard error.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <string>

#include "apps/knowledge_graph_embeddings/trainer.hpp"
#include "bench/plain_embeddings.hpp"
#include "bench/support/bench.hpp"
#include "bench/support/joint_timer.hpp"
#include "bench/support/server.hpp"
#include "lapse/core/error.hpp"

namespace lapse::bench {

namespace {

constexpr std::size_t kRuns = 5;

apps::KnowledgeGraph make_graph(const Bench& bench) {
  apps::DataOptions data;
  data.random.entities = static_cast<std::uint32_t>(bench.size(10'000, 200));
  data.random.relations = static_cast<std::uint32_t>(bench.size(100, 10));
  data.random.triples = bench.size(100'000, 1'000);
  return apps::load_graph(data);
}

apps::TrainingOptions training_options(std::int32_t ranks, std::int32_t workers) {
  apps::TrainingOptions options;
  options.workers = {workers};
  options.model.dimensions = 32;
  // With one worker every embedding is local: pulling ahead gains nothing.
  if (ranks * workers == 1) options.runner.prefetch = 0;
  return options;
}

void measure_epochs(Bench& bench, std::int32_t workers) {
  const std::string name = fmt::format("{}x{}", bench.ranks(), workers);
  if (!bench.selected(name)) return;
  const apps::KnowledgeGraph graph = make_graph(bench);
  adapm::ParameterManager manager(MPI_COMM_WORLD,
                                  {.server = quiet_options(), .technique = adapm::Technique::localize});
  ParameterServer& server = manager.server();
  const apps::TrainingOptions options = training_options(bench.ranks(), workers);
  apps::Trainer trainer(manager, graph, options);
  PlainEmbeddings plain(graph, trainer.model(), options);

  double loss = 0;
  double plain_loss = 0;
  apps::PhaseCost cost;
  bench.measure(
      {.name = name,
       .metric = "epoch",
       .unit = "s",
       .ranks = bench.ranks(),
       .workers = workers * bench.ranks()},
      kRuns,
      [&] {
        const apps::EpochRecord record = trainer.run_epoch();
        loss = record.loss;
        cost += record.cost;
        return record.cost.seconds;
      },
      "plain loop, one thread",
      [&] {
        double seconds = 0;
        server.run_workers(bench.rank() == 0 ? 1 : 0, [&](Worker&) {
          const Clock::time_point begin = Clock::now();
          plain_loss = plain.run_epoch();
          seconds = seconds_between(begin, Clock::now());
        });
        return seconds;
      });
  manager.close();
  if (bench.rank() != 0) return;
  fmt::print(stderr, "  {:.1f} % of the accesses local; loss {:.6f}", 100 * apps::local_share(cost.accesses),
             loss);
  if (bench.baselines()) fmt::print(stderr, ", plain {:.6f}", plain_loss);
  fmt::print(stderr, "\n");
  if (bench.baselines() && bench.ranks() * workers == 1 && loss != plain_loss) {
    throw Error(fmt::format("the plain program has the loss {}, the server {}", plain_loss, loss));
  }
}

}  // namespace

}  // namespace lapse::bench

int main(int argc, char** argv) {
  using namespace lapse::bench;
  return run_benchmark(argc, argv, "Time of an epoch of knowledge graph embeddings", [](Bench& bench) {
    measure_epochs(bench, 1);
    if (bench.ranks() > 1) return;
    measure_epochs(bench, 2);
    measure_epochs(bench, 4);
  });
}
