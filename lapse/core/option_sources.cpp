#include "lapse/core/option_sources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>

#include "lapse/core/byte_order_mark.hpp"
#include "lapse/core/error.hpp"

namespace lapse {

namespace {

constexpr std::array<std::string_view, 2> kPrefixes{"lapse.", "adapm."};
constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20;
constexpr std::string_view kBlanks = " \t\r";

std::string_view without_blanks(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

// Removes a comment. A `#` within a word is part of the word.
std::string_view without_comment(std::string_view line) {
  for (std::size_t at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1)) {
    if (at == 0 || kBlanks.find(line[at - 1]) != std::string_view::npos) return line.substr(0, at);
  }
  return line;
}

}  // namespace

OptionSetting option_assignment(std::string_view text, std::string place) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || text.find('\0') != std::string_view::npos) {
    throw ConfigurationError(
        fmt::format("{}: '{}' sets no option: expected NAME=VALUE, as lapse.domain=2", place, text));
  }
  const std::string_view name = without_blanks(text.substr(0, equals));
  if (std::ranges::none_of(kPrefixes, [&](std::string_view prefix) { return name.starts_with(prefix); })) {
    throw ConfigurationError(fmt::format("{}: '{}' is no option: expected a name that begins with {}", place,
                                         name, fmt::join(kPrefixes, " or ")));
  }
  return {.name = std::string(name),
          .value = std::string(without_blanks(text.substr(equals + 1))),
          .place = std::move(place)};
}

OptionsFile OptionsFile::read(const std::string& path) {
  OptionsFile file{.path = path, .text = {}, .problem = {}};
  const auto close = [](std::FILE* stream) { std::fclose(stream); };
  const std::unique_ptr<std::FILE, decltype(close)> stream(std::fopen(path.c_str(), "rb"), close);
  if (!stream) {
    file.problem = fmt::format("cannot be opened: {}", std::strerror(errno));
    return file;
  }
  file.text.resize(kMaxFileBytes + 1);
  file.text.resize(std::fread(file.text.data(), 1, file.text.size(), stream.get()));
  if (std::ferror(stream.get()) != 0) {
    file.problem = fmt::format("cannot be read: {}", std::strerror(errno));
  } else if (file.text.size() > kMaxFileBytes) {
    file.problem = fmt::format("has more than {} bytes, expected a file of options", kMaxFileBytes);
  }
  if (!file.problem.empty()) file.text.clear();
  return file;
}

OptionsFile OptionsFile::read_named() {
  const char* const path = std::getenv(kVariable);  // NOLINT(concurrency-mt-unsafe)
  return path == nullptr || *path == '\0' ? OptionsFile{} : read(path);
}

std::vector<OptionSetting> OptionsFile::settings() const {
  if (!problem.empty()) throw ConfigurationError(fmt::format("file of options {}: {}", path, problem));
  std::vector<OptionSetting> settings;
  std::map<std::string, std::size_t> lines;  // by name
  std::size_t number = 0;
  const std::string_view lines_of_text = without_byte_order_mark(text);
  for (std::size_t begin = 0; begin < lines_of_text.size();) {
    const std::size_t end = std::min(lines_of_text.find('\n', begin), lines_of_text.size());
    const std::string_view line = without_blanks(without_comment(lines_of_text.substr(begin, end - begin)));
    begin = end + 1;
    ++number;
    if (line.empty()) continue;
    settings.push_back(option_assignment(line, fmt::format("{}:{}", path, number)));
    const auto [other, is_new] = lines.emplace(settings.back().name, number);
    if (!is_new) {
      throw ConfigurationError(
          fmt::format("{}:{}: {} is set in line {} already", path, number, other->first, other->second));
    }
  }
  return settings;
}

}  // namespace lapse
