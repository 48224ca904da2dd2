#include "apps/matrix_factorization/factor_files.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace lapse::apps {

namespace {

constexpr std::uint64_t kKeysPerPull = 4096;

}  // namespace

FactorFiles::FactorFiles(const std::string& prefix, std::uint64_t rows, std::uint64_t columns,
                         const FactorModel& model)
    : model_(model), rows_(create(prefix + "-row", rows)), columns_(create(prefix + "-column", columns)) {}

FactorFiles::Side FactorFiles::create(const std::string& prefix, std::uint64_t ids) const {
  Side side{io::NpyWriter<float>(prefix + "s.npy", {ids, model_.rank()}), std::nullopt};
  if (model_.has_biases()) side.biases.emplace(prefix + "-biases.npy", io::NpyShape{ids});
  return side;
}

void FactorFiles::write(Worker& worker, const FactorTable& factors) {
  write_side(worker, factors, factors.row_key(0), factors.rows, rows_);
  write_side(worker, factors, factors.column_key(0), factors.columns, columns_);
}

void FactorFiles::write_side(Worker& worker, const FactorTable& factors, Key first, std::uint64_t ids,
                             Side& side) const {
  std::vector<Key> keys;
  std::vector<float> values;
  for (std::uint64_t done = 0; done < ids; done += keys.size()) {
    keys.clear();
    const std::uint64_t end = std::min(ids, done + kKeysPerPull);
    for (std::uint64_t id = done; id < end; ++id) keys.push_back(Key{first.value() + id});
    values.resize(keys.size() * model_.length());
    worker.pull(factors.table, keys, values).wait();
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto value = std::span<const float>(values).subspan(i * model_.length(), model_.length());
      side.factors.append(value.first(model_.rank()));
      if (side.biases) side.biases->append(value.last(1));
    }
  }
  side.factors.close();
  if (side.biases) side.biases->close();
}

}  // namespace lapse::apps
