// The trained embeddings as files.
#pragma once

#include <string>

#include "apps/knowledge_graph_embeddings/embedding_model.hpp"
#include "apps/knowledge_graph_embeddings/embedding_tables.hpp"
#include "apps/knowledge_graph_embeddings/knowledge_graph.hpp"
#include "lapse/io/npy/npy_writer.hpp"

namespace lapse::apps {

// Writes <prefix>-entities.npy and <prefix>-relations.npy (float32; a row for each, in the layout of the
// model), and for graphs with names <prefix>-entities.txt and <prefix>-relations.txt: the names in the order
// of the rows, each with a tab and how often the training triples have it. With reciprocal relations the rows
// of their inverses, which have no names, follow those of the relations in the same order.
class EmbeddingFiles {
 public:
  // Creates the files, so that a path that cannot be written to is noticed before the training. Throws
  // FileError.
  EmbeddingFiles(const std::string& prefix, const KnowledgeGraph& graph, const EmbeddingModel& model,
                 const QueryForm& form);

  // Pulls the embeddings in ranges of keys and writes them. Not collective: one worker does all of it. The
  // arrays appear under their names when this has succeeded. Throws FileError.
  void write(Worker& worker, const EmbeddingTables& tables);

 private:
  io::NpyWriter<float> entities_;
  io::NpyWriter<float> relations_;
};

}  // namespace lapse::apps
