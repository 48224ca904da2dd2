#include "apps/common/text_form.hpp"

#include <CLI/CLI.hpp>
#include <map>

#include "apps/common/option_values.hpp"

namespace lapse::apps {

namespace {

// The code point of a character of one to three bytes; 0 for others, and for bytes that are no characters.
std::uint32_t code_point(std::string_view character) {
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(character[i]));
  };
  if (character.size() == 1 && byte(0) < 0x80) return byte(0);
  if (character.size() == 2) return (byte(0) & 0x1fU) << 6U | (byte(1) & 0x3fU);
  if (character.size() == 3) return (byte(0) & 0xfU) << 12U | (byte(1) & 0x3fU) << 6U | (byte(2) & 0x3fU);
  return 0;
}

std::size_t bytes_of_character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  std::size_t bytes = 1;
  if (first >= 0xc2 && first < 0xe0) bytes = 2;
  if (first >= 0xe0 && first < 0xf0) bytes = 3;
  if (first >= 0xf0 && first < 0xf5) bytes = 4;
  for (std::size_t i = 1; i < bytes; ++i)
    if (i >= text.size() || (static_cast<unsigned char>(text[i]) & 0xc0U) != 0x80U) return 1;
  return bytes;
}

bool is_in(std::uint32_t value, std::uint32_t first, std::uint32_t last) {
  return value >= first && value <= last;
}

bool is_mark(std::uint32_t point) {
  return is_in(point, '!', '/') || is_in(point, ':', '@') || is_in(point, '[', '`') ||
         is_in(point, '{', '~') || point == 0xa1 || point == 0xab || point == 0xbb || point == 0xbf ||
         is_in(point, 0x2010, 0x205e);
}

// Marks that belong to the word between two of its characters.
bool joins_words(std::uint32_t point) {
  return point == '\'' || point == '-' || point == '.' || point == ',' || point == 0x2019 || point == 0x2010;
}

bool is_word_character(std::string_view character) {
  const std::uint32_t point = code_point(character);
  return point != ' ' && point != '\t' && point != '\r' && !is_mark(point);
}

std::uint32_t lower(std::uint32_t point) {
  if (is_in(point, 'A', 'Z')) return point + 32;
  if (is_in(point, 0xc0, 0xde) && point != 0xd7) return point + 32;
  const bool odd_is_upper = is_in(point, 0x139, 0x148) || is_in(point, 0x179, 0x17e);
  const bool even_is_upper = is_in(point, 0x100, 0x137) || is_in(point, 0x14a, 0x177) ||
                             is_in(point, 0x460, 0x481) || is_in(point, 0x48a, 0x4bf) ||
                             is_in(point, 0x4d0, 0x52f);
  if (point == 0x130) return 'i';
  if (point == 0x178) return 0xff;
  if (even_is_upper) return point % 2 == 0 ? point + 1 : point;
  if (odd_is_upper) return point % 2 == 1 ? point + 1 : point;
  if (point == 0x386) return 0x3ac;
  if (is_in(point, 0x388, 0x38a)) return point + 37;
  if (point == 0x38c) return 0x3cc;
  if (is_in(point, 0x38e, 0x38f)) return point + 63;
  if (is_in(point, 0x391, 0x3ab) && point != 0x3a2) return point + 32;
  if (is_in(point, 0x400, 0x40f)) return point + 80;
  if (is_in(point, 0x410, 0x42f)) return point + 32;
  if (is_in(point, 0x531, 0x556)) return point + 48;
  return point;
}

void append_point(std::string& text, std::uint32_t point) {
  if (point < 0x80) {
    text += static_cast<char>(point);
    return;
  }
  text += static_cast<char>(0xc0U | point >> 6U);
  text += static_cast<char>(0x80U | (point & 0x3fU));
}

}  // namespace

std::string_view FormedText::form(std::string_view line) {
  if (form_ == TextForm{}) return line;
  formed_.clear();
  is_after_word_ = false;
  for (std::size_t begin = 0; begin < line.size();) {
    const std::size_t bytes = bytes_of_character(line.substr(begin));
    append(line, begin, bytes);
    begin += bytes;
  }
  return formed_;
}

void FormedText::append(std::string_view line, std::size_t begin, std::size_t bytes) {
  const std::string_view character = line.substr(begin, bytes);
  const std::uint32_t point = code_point(character);
  if (form_.punctuation != Punctuation::keep && is_mark(point)) {
    const std::string_view rest = line.substr(begin + bytes);
    const bool is_inside = joins_words(point) && is_after_word_ && !rest.empty() &&
                           is_word_character(rest.substr(0, bytes_of_character(rest)));
    if (!is_inside) {
      is_after_word_ = false;
      formed_ += ' ';
      if (form_.punctuation == Punctuation::split) formed_.append(character).append(" ");
      return;
    }
  }
  is_after_word_ = is_word_character(character);
  if (form_.lower_case && bytes <= 2 && point != 0)
    append_point(formed_, lower(point));
  else
    formed_.append(character);
}

std::array<CLI::Option*, 2> add_text_form(CLI::App& app, TextForm& form) {
  CLI::Option* const lower_case =
      app.add_flag("--lower-case", form.lower_case,
                   "Words of the text in lower case (Latin, Greek, Cyrillic and Armenian letters)");
  CLI::Option* const punctuation = add_names(
      app, "--punctuation", form.punctuation,
      std::map<std::string, Punctuation>{
          {"keep", Punctuation::keep}, {"split", Punctuation::split}, {"drop", Punctuation::drop}},
      "Marks in the text: part of words; or words of their own; or left out. Apostrophes, hyphens, dots and "
      "commas within a word stay");
  return {lower_case, punctuation};
}

}  // namespace lapse::apps
