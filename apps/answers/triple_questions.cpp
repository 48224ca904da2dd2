#include "apps/answers/triple_questions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "apps/answers/best_rows.hpp"
#include "lapse/core/file_error.hpp"
#include "lapse/io/triples/triple_file.hpp"

namespace lapse::apps {

namespace {

std::unique_ptr<const EmbeddingModel> model_of(const ModelDescription& description) {
  ModelOptions options{.dimensions = description.count("dimensions")};
  const std::string& name = description.text("model");
  const auto* const kind =
      std::ranges::find(kModelKinds, std::string_view(name), [](ModelKind each) { return to_string(each); });
  if (kind == kModelKinds.end() || options.dimensions == 0)
    throw FileError(description.path(),
                    fmt::format("there is no model '{}' of {} dimensions", name, options.dimensions));
  options.kind = *kind;
  if (options.kind == ModelKind::transe) options.margin = description.number("margin");
  return make_model(options);
}

std::size_t relation_rows(const ModelDescription& model) {
  return QueryForm(model.count("relations"), model.flag("reciprocal")).relation_keys();
}

std::uint32_t row_of(const RowNames& names, std::string_view name) {
  return static_cast<std::uint32_t>(names.find(name));
}

}  // namespace

NamedRows read_entities(const ModelDescription& model) {
  const std::uint64_t entities = model.count("entities");
  return {RowNames::read(model, "entity", "entity", entities),
          read_rows(model, "entities", entities, model_of(model)->entity_length())};
}

NamedRows read_relations(const ModelDescription& model) {
  const std::uint64_t relations = model.count("relations");
  const std::size_t length = model_of(model)->relation_length();
  std::vector<float> rows = read_rows(model, "relations", relation_rows(model), length);
  rows.resize(relations * length);  // without inverse ones
  return {RowNames::read(model, "relation", "relation", relations), std::move(rows)};
}

TripleModel::TripleModel(const ModelDescription& model)
    : model_(model_of(model)),
      form_(model.count("relations"), model.flag("reciprocal")),
      entities_(read_entities(model)),
      relation_names_(RowNames::read(model, "relation", "relation", model.count("relations"))),
      relations_(read_rows(model, "relations", form_.relation_keys(), model_->relation_length())) {}

std::vector<float> TripleModel::query(const TripleQuery& asked) const {
  std::vector<float> query(model_->entity_length());
  model_->query(asked.missing, entities_.row(asked.known), relation(asked.relation), query);
  return query;
}

double TripleModel::score(const Triple& triple) const {
  return static_cast<double>(
      model_->score(query(form_.query(Side::object, triple)), entities_.row(triple.object)));
}

std::vector<double> TripleModel::scores(Side missing, const Triple& triple) const {
  std::vector<float> scores(entities_.size());
  model_->scores(query(form_.query(missing, triple)), entities_.values(), scores);
  return {scores.begin(), scores.end()};
}

std::vector<Scored> ScoreQuestion::answer(std::span<const std::string_view> query) const {
  require_fields(query, fields());
  const RowNames& entities = model_.entities().names();
  return {{{},
           model_.score({row_of(entities, query[0]), row_of(model_.relations(), query[1]),
                         row_of(entities, query[2])})}};
}

MissingPartQuestion::MissingPartQuestion(TripleModel model, Asked asked, std::size_t count,
                                         const std::vector<std::string>& known, const io::TableFormat& format)
    : model_(std::move(model)), asked_(asked), count_(count) {
  for (const std::string& file : known) read_known(file, format);
  std::ranges::sort(known_);
}

void MissingPartQuestion::read_known(const std::string& file, const io::TableFormat& format) {
  const RowNames& entities = model_.entities().names();
  const std::size_t before = known_.size();
  io::TripleReader reader(file, {}, format);
  for (io::NamedTriple named; reader.next(named);) {
    const auto subject = entities.try_find(named.subject);
    const auto relation = model_.relations().try_find(named.relation);
    const auto object = entities.try_find(named.object);
    if (!subject || !relation || !object) continue;
    known_.push_back(
        known_triple({static_cast<std::uint32_t>(*subject), static_cast<std::uint32_t>(*relation),
                      static_cast<std::uint32_t>(*object)}));
  }
  if (known_.size() == before) {
    throw FileError(file, fmt::format("the model has the names of none of its triples; they were read {}",
                                      reader.layout()));
  }
}

std::string_view MissingPartQuestion::fields() const {
  switch (asked_) {
    case Asked::subject:
      return "RELATION OBJECT";
    case Asked::relation:
      return "SUBJECT OBJECT";
    case Asked::object:
      break;
  }
  return "SUBJECT RELATION";
}

MissingPartQuestion::KnownTriple MissingPartQuestion::known_triple(const Triple& triple) const {
  switch (asked_) {
    case Asked::subject:
      return {triple.relation, triple.object, triple.subject};
    case Asked::relation:
      return {triple.subject, triple.object, triple.relation};
    case Asked::object:
      break;
  }
  return {triple.subject, triple.relation, triple.object};
}

std::vector<std::uint32_t> MissingPartQuestion::known_answers(const Triple& triple) const {
  KnownTriple first = known_triple(triple);
  first.answer = 0;
  std::vector<std::uint32_t> answers;
  for (auto known = std::ranges::lower_bound(known_, first);
       known != known_.end() && known->first == first.first && known->second == first.second; ++known)
    answers.push_back(known->answer);
  return answers;
}

std::vector<double> MissingPartQuestion::scores(const Triple& triple) const {
  if (asked_ != Asked::relation)
    return model_.scores(asked_ == Asked::subject ? Side::subject : Side::object, triple);
  std::vector<double> scores(model_.relations().size());
  for (std::uint32_t relation = 0; relation < scores.size(); ++relation)
    scores[relation] = model_.score({triple.subject, relation, triple.object});
  return scores;
}

std::vector<Scored> MissingPartQuestion::answer(std::span<const std::string_view> query) const {
  require_fields(query, fields());
  const RowNames& entities = model_.entities().names();
  Triple triple;
  if (asked_ == Asked::subject)
    triple = {.relation = row_of(model_.relations(), query[0]), .object = row_of(entities, query[1])};
  else if (asked_ == Asked::relation)
    triple = {.subject = row_of(entities, query[0]), .object = row_of(entities, query[1])};
  else
    triple = {.subject = row_of(entities, query[0]), .relation = row_of(model_.relations(), query[1])};
  return best_rows(scores(triple), asked_ == Asked::relation ? model_.relations() : entities, count_,
                   known_answers(triple));
}

}  // namespace lapse::apps
