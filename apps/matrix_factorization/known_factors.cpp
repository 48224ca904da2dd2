#include "apps/matrix_factorization/known_factors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "apps/common/model_description.hpp"
#include "apps/model_files/known_rows.hpp"
#include "apps/model_files/named_rows.hpp"
#include "lapse/core/error.hpp"

namespace lapse::apps {

namespace {

constexpr std::string_view kOption = "--initial";

// The users or the items of a training.
struct Side {
  std::string role;  // in the description
  std::string noun;
  const std::vector<std::uint64_t>& ids;
  const io::Vocabulary& names;
  Key first;
  std::uint64_t count;
};

// Rows as the table has them: factors, then the bias. `shift`: added to biases from the model.
std::vector<float> table_rows(const ModelDescription& trained, const Side& side, const FactorModel& model,
                              float shift) {
  const std::uint64_t rows = trained.count(side.role + "s");
  std::vector<float> factors = read_rows(trained, side.role + "s", rows, model.rank());
  if (!model.has_biases()) return factors;
  const std::string role = side.role + "_biases";
  std::vector<float> biases(rows);
  if (trained.has_file(role)) {
    biases = read_rows(trained, role, rows, 1);
    for (float& bias : biases) bias += shift;
  }
  std::vector<float> all;
  all.reserve(rows * model.length());
  for (std::size_t row = 0; row < rows; ++row) {
    const auto from = factors.begin() + static_cast<std::ptrdiff_t>(row * model.rank());
    all.insert(all.end(), from, from + static_cast<std::ptrdiff_t>(model.rank()));
    all.push_back(biases[row]);
  }
  return all;
}

std::uint64_t set_side(Worker& worker, const ModelDescription& trained, const Side& side,
                       const FactorModel& model, float shift, const FactorTable& factors) {
  const RowNames names = RowNames::read(trained, side.role, side.noun, trained.count(side.role + "s"));
  const std::vector<float> rows = table_rows(trained, side, model, shift);
  return set_known_rows(worker, factors.table, side.first.value(), side.count, rows, [&](std::uint64_t row) {
    return names.try_find(side.names.empty() ? std::to_string(side.ids[row])
                                             : side.names.name(static_cast<io::Vocabulary::Id>(row)));
  });
}

}  // namespace

std::string set_known_factors(Worker& worker, const std::string& trained, const FactorizationProblem& problem,
                              const FactorModel& model, FactorLoss loss, const FactorTable& factors) {
  const ModelDescription description = ModelDescription::read(trained);
  require_kind(description, "matrix_factorization", kOption);
  const std::string given_loss = description.text_or_empty("loss");
  require_same(description, "--loss", given_loss.empty() ? to_string(FactorLoss::squared) : given_loss,
               to_string(loss), kOption);
  require_same(description, "--rank", std::to_string(description.count("rank")), std::to_string(model.rank()),
               kOption);
  require_same(description, "--biases", description.has_file("column_biases") ? "yes" : "no",
               model.has_biases() ? "yes" : "no", kOption);
  const bool has_ids = description.has_file("row_ids") || description.has_file("row_names");
  if (!has_ids || (problem.row_ids.empty() && problem.row_names.empty())) {
    throw ConfigurationError(fmt::format(
        "{}: rows are found by the ids of users and items, and a generated matrix has none", kOption));
  }
  const float shift =
      loss == FactorLoss::squared ? static_cast<float>(description.number("mean")) - model.mean() : 0.0F;
  const Side users{"row", "user", problem.row_ids, problem.row_names, factors.row_key(0), factors.rows};
  const Side items{"column",       "item", problem.column_ids, problem.column_names, factors.column_key(0),
                   factors.columns};
  const std::uint64_t known_users = set_side(worker, description, users, model, shift, factors);
  const std::uint64_t known_items = set_side(worker, description, items, model, 0, factors);
  return fmt::format("starts from {}: {} of {} users and {} of {} items are known", description.path(),
                     known_users, factors.rows, known_items, factors.columns);
}

}  // namespace lapse::apps
