// Lower case words.
#pragma once

#include <string>
#include <string_view>

namespace lapse::apps {

// Converts the letters A to Z to lower case; other characters are unchanged.
inline std::string lower_case(std::string_view word) {
  std::string lower(word);
  for (char& character : lower) {
    if (character >= 'A' && character <= 'Z') character = static_cast<char>(character - 'A' + 'a');
  }
  return lower;
}

}  // namespace lapse::apps
