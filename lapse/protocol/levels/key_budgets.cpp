#include "lapse/protocol/levels/key_budgets.hpp"

namespace lapse {

double KeyBudgets::outstanding(TableId table, Key key) const {
  if (tables_.size() <= table.index()) return 0;
  const auto found = tables_[table.index()].find(key.value());
  return found == tables_[table.index()].end() ? 0 : found->second.sum;
}

std::size_t KeyBudgets::waiting(TableId table, Key key) const {
  if (tables_.size() <= table.index()) return 0;
  const auto found = tables_[table.index()].find(key.value());
  return found == tables_[table.index()].end() ? 0 : found->second.waiting.size();
}

void KeyBudgets::clear() {
  tables_.clear();
  waiting_ = 0;
}

}  // namespace lapse
