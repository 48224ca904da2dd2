#include "apps/report/command_options.hpp"

#include <algorithm>
#include <cctype>
#include <span>

#include "apps/common/command_words.hpp"

namespace lapse::apps {

namespace {

// Not of "-3", which is a value.
bool is_option(std::string_view word) {
  return word.starts_with("--") ||
         (word.size() > 1 && word[0] == '-' && std::isalpha(static_cast<unsigned char>(word[1])) != 0);
}

}  // namespace

const CommandOption* CommandOptions::find(std::string_view name) const {
  const auto found = std::ranges::find(options, name, &CommandOption::name);
  return found == options.end() ? nullptr : &*found;
}

CommandOptions options_of(std::string_view command) {
  CommandOptions parsed;
  const std::vector<std::string> words = split_command(command);
  if (words.empty()) return parsed;
  parsed.program = words[0].substr(words[0].rfind('/') + 1);
  std::vector<CommandOption> given;
  for (const std::string& word : std::span(words).subspan(1)) {
    const std::size_t sign = word.find('=');
    if (is_option(word)) {
      given.push_back({word.substr(0, sign), sign == std::string::npos ? "" : word.substr(sign + 1)});
    } else {
      if (given.empty()) given.emplace_back();
      std::string& value = given.back().value;
      value += (value.empty() ? "" : " ") + word;
    }
  }
  for (CommandOption& option : given) {
    if (option.value.empty()) option.value = "yes";
    const auto same = std::ranges::find(parsed.options, option.name, &CommandOption::name);
    if (same == parsed.options.end())
      parsed.options.push_back(option);
    else
      same->value += ", " + option.value;
  }
  return parsed;
}

}  // namespace lapse::apps
