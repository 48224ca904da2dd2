#include "apps/matrix_factorization/factor_files.hpp"

#include <span>
#include <utility>

#include "apps/common/table_reader.hpp"

namespace lapse::apps {

FactorFiles::FactorFiles(const std::string& prefix, const FactorizationProblem& problem,
                         const FactorModel& model)
    : model_(model),
      rows_(create(prefix + "-row", problem.rows, problem.row_ids)),
      columns_(create(prefix + "-column", problem.columns, problem.column_ids)) {}

FactorFiles::Side FactorFiles::create(const std::string& prefix, std::uint64_t count,
                                      const std::vector<std::uint64_t>& ids) const {
  Side side{io::NpyWriter<float>(prefix + "s.npy", {count, model_.rank()}), std::nullopt, std::nullopt};
  if (model_.has_biases()) side.biases.emplace(prefix + "-biases.npy", io::NpyShape{count});
  if (!ids.empty()) {
    side.ids.emplace(prefix + "-ids.npy", io::NpyShape{count});
    side.ids->append(ids);
  }
  return side;
}

void FactorFiles::write(Worker& worker, const FactorTable& factors) {
  write_side(worker, factors, factors.row_key(0), factors.rows, rows_);
  write_side(worker, factors, factors.column_key(0), factors.columns, columns_);
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
