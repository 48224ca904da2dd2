// Words as most texts have them.
#pragma once

#include <string>
#include <string_view>

namespace lapse::apps {

// With the letters A to Z in lower case; other characters stay.
inline std::string lower_case(std::string_view word) {
  std::string lower(word);
  for (char& character : lower) {
    if (character >= 'A' && character <= 'Z') character = static_cast<char>(character - 'A' + 'a');
  }
  return lower;
}

}  // namespace lapse::apps
