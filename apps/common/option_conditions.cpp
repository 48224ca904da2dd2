#include "apps/common/option_conditions.hpp"

#include <CLI/CLI.hpp>
#include <utility>

namespace lapse::apps {

void OptionConditions::add(const CLI::Option* option, std::string needed, std::function<bool()> is_met) {
  conditions_.push_back({option, std::move(needed), std::move(is_met)});
}

void OptionConditions::check() const {
  for (const Condition& condition : conditions_) {
    if (condition.option->count() == 0 || condition.is_met()) continue;
    throw CLI::ValidationError(condition.option->get_name() + " applies only with " + condition.needed);
  }
}

}  // namespace lapse::apps
