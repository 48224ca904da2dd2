#include "apps/knowledge_graph_embeddings/embedding_files.hpp"

#include <fmt/format.h>

#include "apps/common/table_reader.hpp"
#include "lapse/io/vocabulary/vocabulary_file.hpp"

namespace lapse::apps {

namespace {

void write_table(Worker& worker, const Table<float>& table, io::NpyWriter<float>& file) {
  read_keys(worker, table, 0, table.keys(), [&](std::span<const float> values) { file.append(values); });
  file.close();
}

// The score of a triple, in the words of NumPy.
std::string_view formula_of(ModelKind kind) {
  switch (kind) {
    case ModelKind::distmult:
      return "sum(s * r * o)";
    case ModelKind::rescal:
      return "s @ r.reshape(dimensions, dimensions) @ o";
    case ModelKind::transe:
      return "margin - norm(s + r - o)";
    case ModelKind::complex:
      break;
  }
  return "sum of re(s * r * conj(o)), where the first half of a row has the real parts, and the second the "
         "imaginary parts";
}

ModelDescription description_of(const std::string& prefix, const KnowledgeGraph& graph,
                                const ModelOptions& model, const QueryForm& form) {
  ModelDescription description("knowledge_graph", std::string(formula_of(model.kind)));
  description.add("model", std::string(to_string(model.kind)));
  description.add("dimensions", std::uint64_t{model.dimensions});
  if (model.kind == ModelKind::transe) description.add("margin", model.margin);
  description.add("reciprocal", form.reciprocal());
  description.add("entities", graph.entities);
  description.add("relations", graph.relations);
  // What the user said about the triples' file holds for others, too.
  if (!graph.format.columns.empty())
    description.add("data_columns", fmt::format("{}", fmt::join(graph.format.columns, ",")));
  if (!graph.format.separator.empty()) description.add("data_separator", graph.format.separator);
  description.add_file("entities", prefix + "-entities.npy", "float32: a row for each entity");
  description.add_file("relations", prefix + "-relations.npy",
                       form.reciprocal()
                           ? "float32: a row for each relation, then one for the inverse of each"
                           : "float32: a row for each relation");
  if (graph.entity_names.empty()) return description;
  description.add_file("entity_names", prefix + "-entities.txt",
                       "names of entities, each with a tab and its count, in the order of rows");
  description.add_file("relation_names", prefix + "-relations.txt",
                       "names of relations, each with a tab and its count, in the order of rows");
  return description;
}

}  // namespace

EmbeddingFiles::EmbeddingFiles(const std::string& prefix, const KnowledgeGraph& graph,
                               const ModelOptions& model, const QueryForm& form)
    : EmbeddingFiles(prefix, graph, model, *make_model(model), form) {}

EmbeddingFiles::EmbeddingFiles(const std::string& prefix, const KnowledgeGraph& graph,
                               const ModelOptions& options, const EmbeddingModel& model,
                               const QueryForm& form)
    : prefix_(prefix),
      graph_(graph),
      description_(description_of(prefix, graph, options, form)),
      entities_(prefix + "-entities.npy", {graph.entities, model.entity_length()}),
      relations_(prefix + "-relations.npy", {form.relation_keys(), model.relation_length()}) {}

void EmbeddingFiles::write(Worker& worker, const EmbeddingTables& tables) {
  ModelDescription::remove(prefix_);
  if (!graph_.entity_names.empty()) {
    io::write_vocabulary(prefix_ + "-entities.txt", graph_.entity_names);
    io::write_vocabulary(prefix_ + "-relations.txt", graph_.relation_names);
  }
  write_table(worker, tables.entities, entities_);
  write_table(worker, tables.relations, relations_);
  description_.write(prefix_);
}

}  // namespace lapse::apps
