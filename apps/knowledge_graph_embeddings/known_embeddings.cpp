#include "apps/knowledge_graph_embeddings/known_embeddings.hpp"

#include <fmt/format.h>

#include <vector>

#include "apps/common/model_description.hpp"
#include "apps/model_files/known_rows.hpp"
#include "apps/model_files/named_rows.hpp"
#include "lapse/core/error.hpp"

namespace lapse::apps {

namespace {

constexpr std::string_view kOption = "--initial";

std::string_view yes_or_no(bool flag) {
  return flag ? "yes" : "no";
}

}  // namespace

std::string set_known_embeddings(Worker& worker, const std::string& model, const KnowledgeGraph& graph,
                                 const ModelOptions& options, const QueryForm& form,
                                 const EmbeddingTables& tables) {
  const ModelDescription trained = ModelDescription::read(model);
  require_kind(trained, "knowledge_graph", kOption);
  require_same(trained, "--model", trained.text("model"), to_string(options.kind), kOption);
  require_same(trained, "--dim", std::to_string(trained.count("dimensions")),
               std::to_string(options.dimensions), kOption);
  require_same(trained, "--reciprocal", yes_or_no(trained.flag("reciprocal")), yes_or_no(form.reciprocal()),
               kOption);
  if (graph.entity_names.empty() || !trained.has_file("entity_names"))
    throw ConfigurationError(
        fmt::format("{}: rows are found by name, and a generated graph has none", kOption));

  const std::uint64_t entities = trained.count("entities");
  const std::uint64_t relations = trained.count("relations");
  std::uint64_t known_entities = 0;
  {
    const RowNames names = RowNames::read(trained, "entity", "entity", entities);
    const std::vector<float> rows = read_rows(trained, "entities", entities, tables.entities.length());
    known_entities = set_known_rows(worker, tables.entities, 0, graph.entities, rows, [&](std::uint64_t row) {
      return names.try_find(graph.entity_names.name(static_cast<io::Vocabulary::Id>(row)));
    });
  }
  const RowNames names = RowNames::read(trained, "relation", "relation", relations);
  const std::uint64_t forms = form.reciprocal() ? 2 : 1;
  const std::vector<float> rows =
      read_rows(trained, "relations", forms * relations, tables.relations.length());
  std::uint64_t known_relations = 0;
  // The inverses follow the relations, in both tables.
  for (std::uint64_t inverse = 0; inverse < forms; ++inverse) {
    known_relations = set_known_rows(
        worker, tables.relations, inverse * graph.relations, graph.relations, rows, [&](std::uint64_t row) {
          const auto found = names.try_find(graph.relation_names.name(static_cast<io::Vocabulary::Id>(row)));
          return found ? std::optional(*found + inverse * relations) : std::nullopt;
        });
  }
  return fmt::format("starts from {}: {} of {} entities and {} of {} relations are known", trained.path(),
                     known_entities, graph.entities, known_relations, graph.relations);
}

}  // namespace lapse::apps
