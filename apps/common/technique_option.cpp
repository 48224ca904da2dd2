#include "apps/common/technique_option.hpp"

#include <array>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace lapse::apps {

namespace {

// Adds an option that takes the name of one of `values`.
template <class Value, std::size_t size>
CLI::Option* add_choice(CLI::App& app, const std::string& option, std::optional<Value>& target,
                        const std::array<Value, size>& values, const std::string& meaning) {
  std::map<std::string, Value> by_name;
  std::vector<std::string> names;
  for (const Value value : values) {
    names.emplace_back(to_string(value));
    by_name.emplace(names.back(), value);
  }
  return app
      .add_option_function<std::string>(
          option, [&target, by_name](const std::string& name) { target = by_name.at(name); }, meaning)
      ->check(CLI::IsMember(names))
      ->type_name("");
}

bool is_set(const char* variable) {
  const char* const value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe)
  return value != nullptr && *value != '\0';
}

adapm::SamplingScheme scheme_for(adapm::Technique technique) {
  using adapm::SamplingScheme;
  using adapm::Technique;
  switch (technique) {
    case Technique::replication_only:
      return SamplingScheme::prelocalised;
    case Technique::static_partitioning:
      return SamplingScheme::naive;
    case Technique::adaptive:
    case Technique::immediate:
    case Technique::relocation_only:
    case Technique::nups:
    case Technique::full_replication:
    case Technique::localize:
      break;
  }
  return SamplingScheme::local;
}

}  // namespace

CLI::Option* add_technique(CLI::App& app, std::optional<adapm::Technique>& technique) {
  return add_choice(
      app, "--technique", technique, adapm::kTechniques,
      "How keys are managed where workers signal intents: adaptive needs no tuning, the others are for "
      "comparison (default: that of ADAPM_TECHNIQUE, or adaptive)");
}

CLI::Option* add_sampling(CLI::App& app, std::optional<adapm::SamplingScheme>& scheme) {
  return add_choice(app, "--sampling", scheme, adapm::kSamplingSchemes,
                    "On several ranks: when negatives are drawn, and from which (default: that of "
                    "ADAPM_SAMPLING_SCHEME, or "
                    "the one that suits the technique: local where keys move)");
}

adapm::SamplingScheme sampling_scheme(std::optional<adapm::SamplingScheme> option,
                                      const adapm::Options& manager) {
  if (option) return *option;
  return is_set("ADAPM_SAMPLING_SCHEME") ? manager.sampling_scheme : scheme_for(manager.technique);
}

bool environment_has_technique() {
  return is_set("ADAPM_TECHNIQUE");
}

}  // namespace lapse::apps
