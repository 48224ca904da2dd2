// How the lines of a text become words.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace lapse::apps {

enum class Punctuation : std::uint8_t {
  keep,   // part of the word: "end."
  split,  // each mark is a word of its own: "end" "."
  drop,   // separates words, and is left out
};

struct TextForm {
  bool lower_case = false;
  Punctuation punctuation = Punctuation::keep;

  bool operator==(const TextForm&) const = default;
};

// Applies a form to lines. Marks are those of ASCII, the general punctuation of Unicode (U+2010 to U+205E),
// and the inverted and angle ones of Latin-1; between two letters or digits, an apostrophe, a hyphen, a dot
// or a comma is no mark: don't, e-mail, 3.5. Lower case is that of the Latin, Greek and Cyrillic letters up
// to U+0556. Used by one thread.
class FormedText {
 public:
  explicit FormedText(TextForm form) : form_(form) {}

  // The line in this form, with blanks between what are words now; valid until the next call, and as long as
  // the line. The line is UTF-8; bytes that are not stay as they are.
  std::string_view form(std::string_view line);

 private:
  void append(std::string_view line, std::size_t begin, std::size_t bytes);

  TextForm form_;
  std::string formed_;
  bool is_after_word_ = false;  // the last character belongs to a word
};

// Adds and returns --lower-case and --punctuation.
std::array<CLI::Option*, 2> add_text_form(CLI::App& app, TextForm& form);

}  // namespace lapse::apps
