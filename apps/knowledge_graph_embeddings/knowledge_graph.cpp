#include "apps/knowledge_graph_embeddings/knowledge_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "apps/common/held_out_overlap.hpp"
#include "apps/common/required_memory.hpp"
#include "lapse/core/file_error.hpp"
#include "lapse/core/random.hpp"
#include "lapse/io/files/file_descriptor.hpp"
#include "lapse/io/loading/shared_inputs.hpp"
#include "lapse/io/triples/triple_columns.hpp"

namespace lapse::apps {

namespace {

void check_inside(const std::vector<Triple>& triples, std::uint64_t entities, std::uint64_t relations) {
  for (const Triple& triple : triples) {
    if (triple.subject >= entities || triple.object >= entities || triple.relation >= relations) {
      throw UsageError(fmt::format("triple ({}, {}, {}) outside a graph of {} entities and {} relations",
                                   triple.subject, triple.relation, triple.object, entities, relations));
    }
  }
}

KnowledgeGraph make_random_graph(const DataOptions& data) {
  const RandomGraphOptions& options = data.random;
  if (options.entities == 0 || options.relations == 0)
    throw UsageError("a random graph needs at least one entity and one relation");
  // Per entity: whether it occurs. Per relation: its count and the rank that trains it. Per triple: itself,
  // its worker, the worker's copy, and two entries in the indices of known triples.
  const double bytes =
      options.entities / 8.0 + 16.0 * options.relations + 88.0 * static_cast<double>(options.triples);
  require_memory(fmt::format("a random graph of {} entities, {} relations and {} triples", options.entities,
                             options.relations, options.triples),
                 bytes, data.host_ranks);
  RandomEngine random(data.seed);
  const auto id_below = [&](std::uint32_t bound) { return static_cast<std::uint32_t>(random.below(bound)); };
  std::vector<Triple> triples(options.triples);
  for (Triple& triple : triples) {
    triple.subject = id_below(options.entities);
    triple.relation = id_below(options.relations);
    triple.object = id_below(options.entities);
  }
  return make_graph(options.entities, options.relations, std::move(triples));
}

std::string layout_text(const io::Input& input, const io::TripleFile& file) {
  return fmt::format("{}: {}; {} triples", io::input_name(input.path()), file.layout, file.triples.size());
}

std::vector<Triple> read_held_out(const io::Input& input, const std::vector<Triple>& train,
                                  io::Vocabulary& entities, const io::Vocabulary& relations,
                                  const io::TableFormat& format, std::vector<std::string>& layouts,
                                  const io::ReaderGroup& group) {
  if (input.path().empty()) return {};
  io::TripleFile file =
      io::read_triples(input, io::NameIds::growing(entities, 0), io::NameIds::frozen(relations), {}, format);
  layouts.push_back(layout_text(input, file));
  if (file.unknown_relations.count != 0)
    throw file.unknown_relations.error("relation (no training triple has it)");
  if (file.triples.empty()) throw FileError(io::input_name(input.path()), "contains no triples");
  if (!file.warning.empty()) group.warn(file.warning);
  if (group.is_first) {
    const auto ids = [](const Triple& triple) {
      return std::tuple(triple.subject, triple.relation, triple.object);
    };
    if (const std::string warning = overlap_warning(file.triples, train, "triples", ids); !warning.empty())
      group.warn(fmt::format("{}: {}", io::input_name(input.path()), warning));
  }
  return std::move(file.triples);
}

}  // namespace

std::uint64_t KnowledgeGraph::unseen(const std::vector<Triple>& triples) const {
  return static_cast<std::uint64_t>(std::count_if(triples.begin(), triples.end(), [&](const Triple& triple) {
    return !entity_seen[triple.subject] || !entity_seen[triple.object];
  }));
}

KnowledgeGraph make_graph(std::uint64_t entities, std::uint64_t relations, std::vector<Triple> train,
                          std::vector<Triple> valid, std::vector<Triple> test) {
  if (train.empty()) throw UsageError("no triples to train on");
  KnowledgeGraph graph{entities, relations, std::move(train), std::move(valid), std::move(test), {}, {}};
  for (const auto* triples : {&graph.train, &graph.valid, &graph.test})
    check_inside(*triples, entities, relations);
  graph.relation_counts.resize(relations);
  graph.entity_seen.resize(entities);
  for (const Triple& triple : graph.train) {
    ++graph.relation_counts[triple.relation];
    graph.entity_seen[triple.subject] = true;
    graph.entity_seen[triple.object] = true;
  }
  return graph;
}

KnowledgeGraph load_graph(const DataOptions& options, const io::ReaderGroup& group) {
  if (options.train_file.empty()) return make_random_graph(options);
  const auto inputs = io::shared_inputs({options.train_file, options.valid_file, options.test_file}, group);
  io::Vocabulary entities;
  io::Vocabulary relations;
  io::TripleFile train = io::read_triples(inputs[0], io::NameIds::growing(entities),
                                          io::NameIds::growing(relations), {}, options.format);
  if (train.triples.empty()) throw FileError(io::input_name(options.train_file), "contains no triples");
  if (!train.warning.empty()) group.warn(train.warning);
  if (const std::string warning = io::relation_warning(train.triples, entities.size(), relations.size());
      !warning.empty())
    group.warn(fmt::format("{}: {}", io::input_name(options.train_file), warning));
  std::vector<std::string> layouts{layout_text(inputs[0], train)};
  std::vector<Triple> valid =
      read_held_out(inputs[1], train.triples, entities, relations, options.format, layouts, group);
  std::vector<Triple> test =
      read_held_out(inputs[2], train.triples, entities, relations, options.format, layouts, group);
  KnowledgeGraph graph = make_graph(entities.size(), relations.size(), std::move(train.triples),
                                    std::move(valid), std::move(test));
  graph.entity_names = std::move(entities);
  graph.relation_names = std::move(relations);
  graph.layouts = std::move(layouts);
  graph.format = options.format;
  return graph;
}

}  // namespace lapse::apps
