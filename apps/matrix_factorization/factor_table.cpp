#include "apps/matrix_factorization/factor_table.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "lapse/core/random.hpp"

namespace lapse::apps {

namespace {

// Which keys have training cells. All copies of the initialiser share it.
std::shared_ptr<const std::vector<bool>> keys_with_cells(const FactorizationProblem& problem) {
  auto with_cells = std::make_shared<std::vector<bool>>();
  with_cells->reserve(problem.rows + problem.columns);
  for (const std::uint32_t count : problem.row_counts) with_cells->push_back(count != 0);
  for (const std::uint32_t count : problem.column_counts) with_cells->push_back(count != 0);
  return with_cells;
}

}  // namespace

FactorTable create_factor_table(adapm::ParameterManager& manager, const std::string& name,
                                const FactorizationProblem& problem, const FactorModel& model,
                                double initial_scale, std::uint64_t seed, const UpdateRule& rule,
                                Consistency consistency) {
  const auto initial_value = [with_cells = keys_with_cells(problem), random = PositionalRandom(seed),
                              initial_scale, rank = model.rank()](Key key, std::span<float> value) {
    std::fill(value.begin(), value.end(), 0.0F);
    if (!(*with_cells)[key.index()]) return;
    for (std::size_t k = 0; k < rank; ++k) {
      value[k] = static_cast<float>(initial_scale * (2 * random.uniform(key, k) - 1));
    }
  };
  return {manager.create_table<float>({.name = name,
                                       .keys = problem.rows + problem.columns,
                                       .length = model.length(),
                                       .initialiser = Initialiser::function<float>(initial_value),
                                       .update_rule = rule,
                                       .consistency = consistency}),
          problem.rows, problem.columns, rule.kind() != UpdateRuleKind::add};
}

}  // namespace lapse::apps
