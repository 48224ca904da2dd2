// Writes the trained embeddings to files.
#pragma once

#include <string>

#include "apps/common/model_description.hpp"
#include "apps/knowledge_graph_embeddings/embedding_model.hpp"
#include "apps/knowledge_graph_embeddings/embedding_tables.hpp"
#include "apps/knowledge_graph_embeddings/knowledge_graph.hpp"
#include "lapse/io/npy/npy_writer.hpp"

namespace lapse::apps {

// Writes <prefix>-entities.npy and <prefix>-relations.npy (float32; one row each, in the model's layout), and
// for graphs with names <prefix>-entities.txt and <prefix>-relations.txt: the names in row order, each with a
// tab and its count in training triples. With reciprocal relations, the rows of the unnamed inverses follow
// those of the relations in the same order.
class EmbeddingFiles {
 public:
  // Creates the files of numbers, so that a bad path is noticed before the training. The graph must outlive
  // the object. Throws FileError.
  EmbeddingFiles(const std::string& prefix, const KnowledgeGraph& graph, const ModelOptions& model,
                 const QueryForm& form);

  // Pulls the embeddings in ranges of keys and writes them, and <prefix>.json (ModelDescription). Not
  // collective: called by one worker. The arrays get their final names on success. Throws FileError.
  void write(Worker& worker, const EmbeddingTables& tables);

 private:
  EmbeddingFiles(const std::string& prefix, const KnowledgeGraph& graph, const ModelOptions& options,
                 const EmbeddingModel& model, const QueryForm& form);

  std::string prefix_;
  const KnowledgeGraph& graph_;
  ModelDescription description_;
  io::NpyWriter<float> entities_;
  io::NpyWriter<float> relations_;
};

}  // namespace lapse::apps
