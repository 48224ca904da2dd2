// Chooses how a program's keys are managed, by its command line and its environment.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>

#include "adapm/options.hpp"

namespace lapse::apps {

// Adds the option --technique; without it `technique` stays empty.
CLI::Option* add_technique(CLI::App& app, std::optional<adapm::Technique>& technique);

// Adds the option --sampling; without it `scheme` stays empty.
CLI::Option* add_sampling(CLI::App& app, std::optional<adapm::SamplingScheme>& scheme);

// The scheme of the option, else of the environment, else the one that suits the manager's technique: if keys
// move to their users, negatives are drawn among local keys (AdaPM paper, section 5.1), else among all.
adapm::SamplingScheme sampling_scheme(std::optional<adapm::SamplingScheme> option,
                                      const adapm::Options& manager);

// Whether the environment chooses a technique.
bool environment_has_technique();

// For programs that also train without intents. Call it when all options are read, with the options --mode
// and --technique and the technique that they and choose_settings have set. A technique implies the mode in
// which workers signal intents. Throws CLI::ValidationError if a technique is given with another mode.
template <class Mode>
void choose_mode(const CLI::Option& mode_option, const CLI::Option& technique_option,
                 std::optional<adapm::Technique> technique, Mode intent, Mode& mode) {
  if (!technique && !environment_has_technique()) return;
  if (mode_option.count() == 0) mode = intent;
  if (mode == intent) return;
  throw CLI::ValidationError(technique_option.count() != 0 ? "--technique"
                             : technique                   ? "adapm.technique"
                                                           : "ADAPM_TECHNIQUE",
                             "applies only with --mode intent");
}

}  // namespace lapse::apps
