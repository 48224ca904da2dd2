// The graph to embed: triples to train on, and triples held out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lapse/io/loading/reader_group.hpp"
#include "lapse/io/triples/triple_file.hpp"
#include "lapse/io/vocabulary/vocabulary.hpp"

namespace lapse::apps {

using io::Triple;

// A graph of uniformly random triples.
struct RandomGraphOptions {
  std::uint32_t entities = 10000;
  std::uint32_t relations = 100;
  std::uint64_t triples = 100000;
};

// The source of the triples.
struct DataOptions {
  // Triple files, plain or compressed; "-": standard input.
  std::string train_file;  // empty: a random graph
  std::string valid_file;  // empty: none
  std::string test_file;   // empty: none
  io::TableFormat format;
  RandomGraphOptions random;
  std::uint64_t seed = 1;       // of the random graph
  std::int32_t host_ranks = 1;  // ranks of this host that hold a copy of the graph
};

struct KnowledgeGraph {
  std::uint64_t entities = 0;
  std::uint64_t relations = 0;
  std::vector<Triple> train;
  std::vector<Triple> valid;
  std::vector<Triple> test;
  std::vector<std::uint32_t> relation_counts;  // training triples of each relation
  std::vector<bool> entity_seen;               // whether a training triple has the entity
  // Empty for a random graph.
  io::Vocabulary entity_names = {};
  io::Vocabulary relation_names = {};
  // Which columns and separator the user gave.
  io::TableFormat format = {};
  // How the files were understood, line by line.
  std::vector<std::string> layouts = {};

  // Held-out triples with an entity that no training triple has.
  std::uint64_t unseen(const std::vector<Triple>& triples) const;
};

// Fills in the counts. Throws UsageError if there are no training triples, or triples outside the graph.
KnowledgeGraph make_graph(std::uint64_t entities, std::uint64_t relations, std::vector<Triple> train,
                          std::vector<Triple> valid = {}, std::vector<Triple> test = {});

// Collective over the group. Every rank gets the whole graph, read (io::shared_inputs) or generated. Entities
// are those of all files; counts of names are those of the training file. Throws FileError, also for a file
// without triples and for a relation only in held-out triples, which cannot be learned; ConfigurationError if
// two files are one stream; OutOfMemory for a random graph before it is made; and what make_graph throws.
KnowledgeGraph load_graph(const DataOptions& options, const io::ReaderGroup& group = {});

}  // namespace lapse::apps
