#include "apps/common/config_file.hpp"

#include <CLI/CLI.hpp>

namespace lapse::apps {

void add_config(CLI::App& app) {
  app.set_config("--config", "", "Read options from this file: lines `name = value`, `#` begins a comment");
  app.allow_config_extras(CLI::config_extras_mode::error);
}

}  // namespace lapse::apps
