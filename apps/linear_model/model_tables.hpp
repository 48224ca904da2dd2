// The tables of a linear model.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "adapm/parameter_manager.hpp"
#include "lapse/ps/table.hpp"
#include "lapse/ps/worker.hpp"

namespace lapse::apps {

// By feature, one number each.
struct ModelTables {
  Table<double> weights;  // of a dual solver: sum a_i y_i x_i
  // The mean of the samples' gradients at the last full gradient; of averages: see SgdSolver.
  Table<double> gradient;

  std::array<TableId, 2> ids() const { return {weights.id(), gradient.id()}; }
};

// Collective. `name`: prefix of the tables' names.
ModelTables create_model_tables(adapm::ParameterManager& manager, const std::string& name, std::uint64_t keys,
                                std::optional<Consistency> consistency);

// Not collective. The values of the keys.
inline void pull_values(Worker& worker, const Table<double>& table, std::span<const Key> keys,
                        std::vector<double>& values) {
  values.resize(keys.size());
  worker.pull(table, keys, values).wait();
}

// Calls f with the keys of this worker's share of a table, in pieces: every key is in the share of one
// worker.
template <class F>
void for_share(Worker& worker, std::uint64_t keys, F&& f) {
  constexpr std::uint64_t kKeysPerPiece = 1U << 16U;
  const std::uint64_t end = keys * (worker.index() + 1) / worker.count();
  std::vector<Key> piece;
  for (std::uint64_t begin = keys * worker.index() / worker.count(); begin < end; begin += kKeysPerPiece) {
    piece.clear();
    for (std::uint64_t key = begin; key < std::min(begin + kKeysPerPiece, end); ++key)
      piece.emplace_back(key);
    f(std::span<const Key>(piece));
  }
}

}  // namespace lapse::apps
