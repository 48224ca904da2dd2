#include "apps/matrix_factorization/factor_files.hpp"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "apps/common/table_reader.hpp"
#include "lapse/io/vocabulary/vocabulary_file.hpp"

namespace lapse::apps {

namespace {

void add_side(ModelDescription& description, const std::string& prefix, const std::string& name,
              const std::string& noun, bool has_biases, bool has_ids, bool has_names) {
  const std::string file = prefix + "-" + name;
  description.add_file(name + "s", file + "s.npy",
                       "float32, " + name + "s x rank: the factors of each " + noun);
  if (has_biases)
    description.add_file(name + "_biases", file + "-biases.npy", "float32: the bias of each " + noun);
  if (has_ids)
    description.add_file(name + "_ids", file + "-ids.npy",
                         "uint64: the id of the " + noun + " of each " + name + ", ascending");
  if (has_names)
    description.add_file(name + "_names", file + "-names.txt",
                         "the name of the " + noun + " of each " + name + ", a tab, its number of ratings");
}

// With a loss that ranks items, users' biases would change no ranking.
bool has_row_biases(const FactorModel& model, FactorLoss loss) {
  return model.has_biases() && loss == FactorLoss::squared;
}

std::string formula_of(const FactorModel& model, FactorLoss loss) {
  const std::string row_bias = has_row_biases(model, loss) ? "row_biases[row] + " : "";
  const std::string column_bias = model.has_biases() ? "column_biases[column] + " : "";
  const std::string terms =
      row_bias + column_bias + "rows[row] @ columns[column]; a row is a user, a column an item";
  if (loss == FactorLoss::squared) return "mean + " + terms;
  return terms + "; a score, which only ranks the items of one user";
}

ModelDescription description_of(const std::string& prefix, const FactorizationProblem& problem,
                                const FactorModel& model, FactorLoss loss) {
  ModelDescription description("matrix_factorization", formula_of(model, loss));
  description.add("rank", std::uint64_t{model.rank()});
  description.add("rows", problem.rows);
  description.add("columns", problem.columns);
  description.add("loss", std::string(to_string(loss)));
  if (loss == FactorLoss::squared) description.add("mean", double{model.mean()});
  // What the user said about the ratings' file holds for others, too.
  if (!problem.format.columns.empty())
    description.add("data_columns", fmt::format("{}", fmt::join(problem.format.columns, ",")));
  if (!problem.format.separator.empty()) description.add("data_separator", problem.format.separator);
  add_side(description, prefix, "row", "user", has_row_biases(model, loss), !problem.row_ids.empty(),
           !problem.row_names.empty());
  add_side(description, prefix, "column", "item", model.has_biases(), !problem.column_ids.empty(),
           !problem.column_names.empty());
  return description;
}

}  // namespace

FactorFiles::FactorFiles(const std::string& prefix, const FactorizationProblem& problem,
                         const FactorModel& model, FactorLoss loss)
    : prefix_(prefix),
      description_(description_of(prefix, problem, model, loss)),
      problem_(problem),
      model_(model),
      rows_(create(prefix + "-row", problem.rows, problem.row_ids, has_row_biases(model, loss))),
      columns_(create(prefix + "-column", problem.columns, problem.column_ids, model.has_biases())) {}

FactorFiles::Side FactorFiles::create(const std::string& prefix, std::uint64_t count,
                                      const std::vector<std::uint64_t>& ids, bool has_biases) const {
  Side side{io::NpyWriter<float>(prefix + "s.npy", {count, model_.rank()}), std::nullopt, std::nullopt};
  if (has_biases) side.biases.emplace(prefix + "-biases.npy", io::NpyShape{count});
  if (!ids.empty()) {
    side.ids.emplace(prefix + "-ids.npy", io::NpyShape{count});
    side.ids->append(ids);
  }
  return side;
}

void FactorFiles::write(Worker& worker, const FactorTable& factors) {
  ModelDescription::remove(prefix_);
  if (!problem_.row_names.empty()) {
    io::write_vocabulary(prefix_ + "-row-names.txt", problem_.row_names);
    io::write_vocabulary(prefix_ + "-column-names.txt", problem_.column_names);
  }
  write_side(worker, factors, factors.row_key(0), factors.rows, rows_);
  write_side(worker, factors, factors.column_key(0), factors.columns, columns_);
  description_.write(prefix_);
}

void FactorFiles::write_side(Worker& worker, const FactorTable& factors, Key first, std::uint64_t count,
                             Side& side) const {
  const std::size_t length = model_.length();
  read_keys(worker, factors.table, first.value(), first.value() + count, [&](std::span<const float> values) {
    for (; !values.empty(); values = values.subspan(length)) {
      side.factors.append(values.first(model_.rank()));
      if (side.biases) side.biases->append(values.subspan(model_.rank(), 1));
    }
  });
  side.factors.close();
  if (side.biases) side.biases->close();
  if (side.ids) side.ids->close();
}

}  // namespace lapse::apps
