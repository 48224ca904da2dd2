// Lines of text, as names and values or arguments.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace lapse::test {

// The first lines, without their ends and without NUL bytes, which neither the environment nor a command line
// can contain.
inline std::vector<std::string> lines_of(std::string text) {
  constexpr std::size_t kMaxLines = 64;
  std::erase(text, '\0');
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size() && lines.size() < kMaxLines;) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

// name=value
inline std::pair<std::string, std::string> assignment(const std::string& line) {
  const std::size_t equals = std::min(line.find('='), line.size());
  return {line.substr(0, equals), line.substr(std::min(equals + 1, line.size()))};
}

}  // namespace lapse::test
