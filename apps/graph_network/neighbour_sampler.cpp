#include "apps/graph_network/neighbour_sampler.hpp"

#include <fmt/format.h>

#include <new>

#include "lapse/core/error.hpp"

namespace lapse::apps {

NeighbourSampler::NeighbourSampler(const Graph& graph) try
    : graph_(graph),
      positions_(static_cast<std::size_t>(graph.nodes()), kNotFound),
      is_chosen_(graph.max_degree()) {
} catch (const std::bad_alloc&) {
  throw OutOfMemory(fmt::format("out of memory for a sampler of {} nodes", graph.nodes()));
}

SampledNeighbourhood NeighbourSampler::sample(std::span<const std::int64_t> seeds,
                                              std::span<const std::optional<std::uint32_t>> limits,
                                              std::uint64_t seed) {
  for (const std::optional<std::uint32_t> limit : limits) {
    if (limit == 0U) throw UsageError("a layer with at most 0 neighbours: expected 1 or more, or no limit");
  }
  SampledNeighbourhood found;
  try {
    begin(seeds, found);
    found.layers.resize(limits.size());
    RandomEngine random(seed);
    for (std::size_t layer = limits.size(); layer-- > 0;)
      sample_layer(limits[layer], random, found, found.layers[layer]);
  } catch (const std::bad_alloc&) {
    forget(found);
    throw OutOfMemory(fmt::format("out of memory for the neighbourhood of {} nodes", seeds.size()));
  }
  forget(found);
  return found;
}

void NeighbourSampler::begin(std::span<const std::int64_t> seeds, SampledNeighbourhood& found) {
  found.nodes.reserve(seeds.size());
  for (const std::int64_t node : seeds) {
    const bool exists = node >= 0 && static_cast<std::uint64_t>(node) < graph_.nodes();
    if (!exists || positions_[static_cast<std::size_t>(node)] != kNotFound) {
      forget(found);
      throw UsageError(exists
                           ? fmt::format("node {} twice in a batch: expected distinct nodes", node)
                           : fmt::format("node {} of a batch: expected 0 to {}", node, graph_.nodes() - 1));
    }
    position_of(static_cast<std::uint32_t>(node), found);
  }
}

void NeighbourSampler::sample_layer(std::optional<std::uint32_t> limit, RandomEngine& random,
                                    SampledNeighbourhood& found, SampledLayer& layer) {
  const std::size_t outputs = found.nodes.size();
  layer.outputs = static_cast<std::int64_t>(outputs);
  layer.offsets.reserve(outputs + 1);
  layer.offsets.push_back(0);
  for (std::size_t output = 0; output < outputs; ++output) {
    const auto neighbours = graph_.neighbours(static_cast<std::uint32_t>(found.nodes[output]));
    if (!limit || neighbours.size() <= *limit) {
      for (const std::uint32_t neighbour : neighbours) layer.sources.push_back(position_of(neighbour, found));
    } else {
      choose(neighbours.size(), *limit, random);
      for (const std::size_t place : chosen_) layer.sources.push_back(position_of(neighbours[place], found));
    }
    layer.offsets.push_back(static_cast<std::int64_t>(layer.sources.size()));
  }
}

void NeighbourSampler::choose(std::size_t size, std::size_t count, RandomEngine& random) {
  // Floyd's algorithm (Bentley and Floyd, *A Sample of Brilliance*, CACM 1987): all sets are equally likely.
  chosen_.clear();
  for (std::size_t last = size - count; last < size; ++last) {
    const auto drawn = static_cast<std::size_t>(random.below(last + 1));
    const std::size_t place = is_chosen_[drawn] ? last : drawn;
    chosen_.push_back(place);
    is_chosen_[place] = true;
  }
  for (const std::size_t place : chosen_) is_chosen_[place] = false;
}

std::int64_t NeighbourSampler::position_of(std::uint32_t node, SampledNeighbourhood& found) {
  std::int64_t& position = positions_[node];
  if (position == kNotFound) {
    found.nodes.push_back(node);
    position = static_cast<std::int64_t>(found.nodes.size()) - 1;
  }
  return position;
}

void NeighbourSampler::forget(const SampledNeighbourhood& found) {
  for (const std::int64_t node : found.nodes) positions_[static_cast<std::size_t>(node)] = kNotFound;
}

}  // namespace lapse::apps
