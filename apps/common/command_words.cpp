#include "apps/common/command_words.hpp"

#include <fstream>

namespace lapse::apps {

namespace {

constexpr std::string_view kQuotedCharacters = " \t\n'\"\\$*?;&|<>()`#~[]{}!";
constexpr std::string_view kQuotedQuote = R"('\'')";

std::string quoted_word(const std::string& word) {
  if (!word.empty() && word.find_first_of(kQuotedCharacters) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'')
      quoted += kQuotedQuote;
    else
      quoted += c;
  }
  return quoted + "'";
}

}  // namespace

std::string joined_command(std::span<const std::string> words) {
  std::string command;
  for (const std::string& word : words) {
    if (!command.empty()) command += ' ';
    command += quoted_word(word);
  }
  return command;
}

std::vector<std::string> split_command(std::string_view command) {
  std::vector<std::string> words;
  bool is_quoted = false;
  bool is_within = false;  // a word
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    if (!is_quoted && (c == ' ' || c == '\t' || c == '\n')) {
      is_within = false;
      continue;
    }
    if (!is_within) words.emplace_back();
    is_within = true;
    if (c == '\'')
      is_quoted = !is_quoted;
    else if (c == '\\' && !is_quoted && i + 1 < command.size())
      words.back() += command[++i];
    else
      words.back() += c;
  }
  return words;
}

std::vector<std::string> words_of_process() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

}  // namespace lapse::apps
