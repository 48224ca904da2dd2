// Samples the neighbourhood of nodes, layer by layer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "apps/graph_network/graph.hpp"
#include "lapse/core/random.hpp"

namespace lapse::apps {

// The edges that a layer of a graph network sums over, from the nodes of the layer's input to those of its
// output. The latter are the first `outputs` nodes of the neighbourhood.
struct SampledLayer {
  std::int64_t outputs = 0;
  // The sampled neighbours of output i: elements offsets[i] to offsets[i + 1] of sources.
  std::vector<std::int64_t> offsets;
  std::vector<std::int64_t> sources;  // positions in the nodes of the neighbourhood
};

struct SampledNeighbourhood {
  // Distinct numbers of nodes: first those that were asked for, then those that a layer after the other adds.
  std::vector<std::int64_t> nodes;
  std::vector<SampledLayer> layers;  // from the input of the network to its output
};

// Samples neighbours uniformly and without replacement (Hamilton, Ying and Leskovec, *Inductive
// Representation Learning on Large Graphs*, NIPS 2017, algorithm 2). A node that several nodes of a layer
// have sampled occurs once in the neighbourhood. The result depends only on the graph and the arguments. Used
// by one thread; the graph must outlive it.
class NeighbourSampler {
 public:
  explicit NeighbourSampler(const Graph& graph);

  // `limits`: how many neighbours a node of each layer has at most, from the input of the network to its
  // output; nullopt: all. Throws UsageError for a node that does not exist or repeats, and for a limit of 0;
  // OutOfMemory.
  SampledNeighbourhood sample(std::span<const std::int64_t> seeds,
                              std::span<const std::optional<std::uint32_t>> limits, std::uint64_t seed);

 private:
  void begin(std::span<const std::int64_t> seeds, SampledNeighbourhood& found);
  void sample_layer(std::optional<std::uint32_t> limit, RandomEngine& random, SampledNeighbourhood& found,
                    SampledLayer& layer);
  // Sets chosen_ to `count` distinct positions below `size`.
  void choose(std::size_t size, std::size_t count, RandomEngine& random);
  std::int64_t position_of(std::uint32_t node, SampledNeighbourhood& found);
  void forget(const SampledNeighbourhood& found);

  static constexpr std::int64_t kNotFound = -1;

  const Graph& graph_;
  std::vector<std::int64_t>
      positions_;                // by node: its position in the neighbourhood being sampled, or kNotFound
  std::vector<bool> is_chosen_;  // by position in a list of neighbours
  std::vector<std::size_t> chosen_;
};

}  // namespace lapse::apps
