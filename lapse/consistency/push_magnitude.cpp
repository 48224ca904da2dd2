#include "lapse/consistency/push_magnitude.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "lapse/store/update_rules/optimisers.hpp"
#include "lapse/store/update_rules/rule_definition.hpp"

namespace lapse {

namespace {

double largest(ElementType type, const std::byte* updates, std::size_t elements, bool repeats) {
  return visit_element(type, [&](auto element) {
    double all = 0;
    for (std::size_t i = 0; i < elements; ++i) {
      std::memcpy(&element, updates + i * sizeof element, sizeof element);
      const double size = std::abs(static_cast<double>(element));
      if (std::isnan(size)) return std::numeric_limits<double>::infinity();
      all = repeats ? all + size : std::max(all, size);
    }
    return all;
  });
}

// The parameters of one of the library's optimisers.
template <class Parameters>
const Parameters& parameters_of(const UpdateRule& rule) {
  return *static_cast<const Parameters*>(rule.definition().parameters());
}

}  // namespace

bool bounds_changes(const UpdateRule& rule) {
  switch (rule.kind()) {
    case UpdateRuleKind::add:
    case UpdateRuleKind::adagrad:
      return true;
    case UpdateRuleKind::sgd:
      return parameters_of<Sgd>(rule).l2 == 0;
    default:
      return false;
  }
}

double push_magnitude(const UpdateRule& rule, ElementType type, const std::byte* updates,
                      std::size_t elements, float scale, bool repeats) {
  const double factor = std::abs(static_cast<double>(scale));
  const double size = factor * largest(type, updates, elements, repeats);
  if (rule.kind() == UpdateRuleKind::adagrad) {
    if (!std::isfinite(size)) return size;
    const double pushes = repeats ? static_cast<double>(elements) : 1.0;
    return parameters_of<Adagrad>(rule).learning_rate * factor * pushes;
  }
  return rule.kind() == UpdateRuleKind::sgd ? parameters_of<Sgd>(rule).learning_rate * size : size;
}

}  // namespace lapse
