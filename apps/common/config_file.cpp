#include "apps/common/config_file.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <istream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "lapse/core/byte_order_mark.hpp"
#include "lapse/core/options/nearest_name.hpp"

namespace lapse::apps {

namespace {

// Reads line by line, and checks each value with its option, so that every error has file and line.
class OptionLines : public CLI::ConfigINI {
 public:
  explicit OptionLines(CLI::App& app) : app_(app) {}

  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
    std::vector<CLI::ConfigItem> settings;
    std::map<std::string, std::size_t> lines;  // line of each name
    std::size_t number = 0;
    for (std::string text; std::getline(input, text);) {
      std::string_view line = text;
      if (++number == 1) line = without_byte_order_mark(line);
      if (const std::string content = CLI::detail::trim_copy(std::string(line)); has_option(content))
        add(content, number, settings, lines);
    }
    return settings;
  }

 private:
  static bool has_option(const std::string& line) {
    return !line.empty() && line.front() != ';' && line.front() != '#';
  }

  void add(const std::string& line, std::size_t number, std::vector<CLI::ConfigItem>& settings,
           std::map<std::string, std::size_t>& lines) const {
    const auto refuse = [&](const std::string& problem) {
      throw CLI::ConfigError(fmt::format("{}:{}: {}", path(), number, problem));
    };
    std::istringstream one(line);
    const std::vector<CLI::ConfigItem> found = CLI::ConfigINI::from_config(one);
    const std::size_t equals = line.find('=');
    const bool is_cut = equals != std::string::npos &&
                        CLI::detail::trim_copy(line.substr(equals + 1)).starts_with('[') &&
                        line.find(']', equals) == std::string::npos;
    if (found.size() != 1 || found[0].name.empty() || !found[0].parents.empty() || is_cut)
      refuse(fmt::format("'{}' sets no option, expected a line `name = value`", line));
    const CLI::ConfigItem& item = found[0];
    CLI::Option* const option = app_.get_option_no_throw("--" + item.name);
    if (option == nullptr || !option->get_configurable()) {
      const std::vector<std::string> names = option_names();
      refuse(fmt::format("there is no option '{}'{}", item.name,
                         did_you_mean(item.name, std::vector<std::string_view>(names.begin(), names.end()))));
    }
    const auto [other, is_new] = lines.emplace(item.name, number);
    if (!is_new && option->get_expected_max() <= 1)
      refuse(fmt::format("{} is set in line {} already", item.name, other->second));
    if (option->empty()) {  // Otherwise the command line has it, and overrides the file.
      try {
        try_value(*option, item);
      } catch (const CLI::ParseError& error) {
        refuse(error.what());
      }
    }
    const auto same = std::ranges::find(settings, item.name, &CLI::ConfigItem::name);
    if (same == settings.end()) {
      settings.push_back(item);
    } else {
      same->inputs.insert(same->inputs.end(), item.inputs.begin(), item.inputs.end());
    }
  }

  // Throws what the option throws.
  void try_value(CLI::Option& option, const CLI::ConfigItem& item) const {
    if (option.get_expected_min() == 0) {
      option.add_result(option.get_flag_value(item.name, to_flag(item)));
    } else {
      option.add_result(item.inputs);
    }
    try {
      option.run_callback();
    } catch (const CLI::ParseError&) {
      option.clear();
      throw;
    }
    option.clear();
  }

  std::string path() const { return app_.get_config_ptr()->as<std::string>(); }

  std::vector<std::string> option_names() const {
    std::vector<std::string> names;
    for (const CLI::Option* const option : app_.get_options()) {
      if (!option->get_configurable()) continue;
      names.insert(names.end(), option->get_lnames().begin(), option->get_lnames().end());
    }
    return names;
  }

  CLI::App& app_;
};

}  // namespace

void add_config(CLI::App& app) {
  app.set_config("--config", "", "Read options from this file: lines `name = value`, `#` begins a comment");
  app.config_formatter(std::make_shared<OptionLines>(app));
  app.allow_config_extras(CLI::config_extras_mode::error);
}

}  // namespace lapse::apps
