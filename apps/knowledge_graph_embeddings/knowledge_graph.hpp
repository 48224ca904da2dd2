// The graph to embed: triples to train on, and triples held out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lapse::apps {

struct Triple {
  std::uint32_t subject = 0;
  std::uint32_t relation = 0;
  std::uint32_t object = 0;

  auto operator<=>(const Triple&) const = default;
};

// A graph of uniformly random triples.
struct RandomGraphOptions {
  std::uint32_t entities = 10000;
  std::uint32_t relations = 100;
  std::uint64_t triples = 100000;
};

struct DataOptions {
  std::string train_file;  // triples; empty: a random graph
  std::string valid_file;  // empty: none
  std::string test_file;   // empty: none
  RandomGraphOptions random;
  std::uint64_t seed = 1;  // of the random graph
};

struct KnowledgeGraph {
  std::uint64_t entities = 0;
  std::uint64_t relations = 0;
  std::vector<Triple> train;
  std::vector<Triple> valid;
  std::vector<Triple> test;
  // By number; empty for a random graph.
  std::vector<std::string> entity_names;
  std::vector<std::string> relation_names;
  std::vector<std::uint32_t> relation_counts;  // training triples of each relation
  std::vector<bool> entity_seen;               // whether a training triple has the entity
};

// Fills in what is counted. Throws UsageError when there are no triples to train on, or numbers that are out
// of range.
KnowledgeGraph make_graph(std::uint64_t entities, std::uint64_t relations, std::vector<Triple> train,
                          std::vector<Triple> valid = {}, std::vector<Triple> test = {});

// Reads or generates. The entities are those of all files; a relation that only held-out triples have is an
// error, as nothing can be learned about it. Throws FileError, and as make_graph does.
KnowledgeGraph load_graph(const DataOptions& options);

}  // namespace lapse::apps
