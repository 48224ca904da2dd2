#include "apps/common/technique_option.hpp"

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace lapse::apps {

CLI::Option* add_technique(CLI::App& app, std::optional<adapm::Technique>& technique) {
  std::map<std::string, adapm::Technique> techniques;
  std::vector<std::string> names;
  for (const adapm::Technique one : adapm::kTechniques) {
    names.emplace_back(to_string(one));
    techniques.emplace(names.back(), one);
  }
  return app
      .add_option_function<std::string>(
          "--technique",
          [&technique, techniques](const std::string& name) { technique = techniques.at(name); },
          "How keys are managed where workers signal intents: adaptive needs no tuning, the others are for "
          "comparison (default: that of ADAPM_TECHNIQUE, or adaptive)")
      ->check(CLI::IsMember(names))
      ->type_name("");
}

bool environment_has_technique() {
  return std::getenv("ADAPM_TECHNIQUE") != nullptr;  // NOLINT(concurrency-mt-unsafe)
}

}  // namespace lapse::apps
