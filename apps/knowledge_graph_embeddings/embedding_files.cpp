#include "apps/knowledge_graph_embeddings/embedding_files.hpp"

#include "apps/common/table_reader.hpp"
#include "lapse/io/vocabulary/vocabulary_file.hpp"

namespace lapse::apps {

namespace {

void write_table(Worker& worker, const Table<float>& table, io::NpyWriter<float>& file) {
  read_keys(worker, table, 0, table.keys(), [&](std::span<const float> values) { file.append(values); });
  file.close();
}

}  // namespace

EmbeddingFiles::EmbeddingFiles(const std::string& prefix, const KnowledgeGraph& graph,
                               const EmbeddingModel& model, const QueryForm& form)
    : entities_(prefix + "-entities.npy", {graph.entities, model.entity_length()}),
      relations_(prefix + "-relations.npy", {form.relation_keys(), model.relation_length()}) {
  if (graph.entity_names.empty()) return;
  io::write_vocabulary(prefix + "-entities.txt", graph.entity_names);
  io::write_vocabulary(prefix + "-relations.txt", graph.relation_names);
}

void EmbeddingFiles::write(Worker& worker, const EmbeddingTables& tables) {
  write_table(worker, tables.entities, entities_);
  write_table(worker, tables.relations, relations_);
}

}  // namespace lapse::apps
