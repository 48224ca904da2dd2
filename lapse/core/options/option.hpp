// A row of a table of options: an option's name, and how the field with its value is parsed and printed.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace lapse {

struct Option {
  std::string_view name;
  std::string_view meaning;
  std::string values;                                // "on, off", "1 to 1024"
  std::function<bool(std::string_view text)> parse;  // false, with no effect, if the text is no value
  std::function<std::string()> print;
  std::string_view unit = {};  // empty for words and plain counts
  std::string_view kind = {};  // of numbers, for messages: "a whole number from "
};

// The words for the values of an option; a value's first word is the one printed.
template <class Value>
using Words = std::vector<std::pair<std::string_view, Value>>;

// The names of these values.
template <class Value, std::size_t count>
Words<Value> words(const std::array<Value, count>& values) {
  Words<Value> words;
  for (const Value value : values) words.emplace_back(to_string(value), value);
  return words;
}

template <class Number>
bool parse_number(std::string_view text, Number& number) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return problem == std::errc{} && end == text.data() + text.size();
}

// An option whose values are words.
template <class Value>
Option option(std::string_view name, Value& field, const Words<Value>& words, std::string_view meaning) {
  const auto word_of = [words](Value value) {
    const auto word = std::ranges::find(words, value, &std::pair<std::string_view, Value>::second);
    return std::string(word == words.end() ? "none of its values" : word->first);
  };
  std::string values;
  for (const auto& [word, value] : words)
    if (word_of(value) == word) values.append(values.empty() ? "" : ", ").append(word);
  const auto parse = [&field, words](std::string_view text) {
    const auto word = std::ranges::find(words, text, &std::pair<std::string_view, Value>::first);
    if (word != words.end()) field = word->second;
    return word != words.end();
  };
  return {name, meaning, values, parse, [&field, word_of] { return word_of(field); }};
}

inline Option option(std::string_view name, bool& field, std::string_view meaning) {
  const Words<bool> words{{"on", true},  {"off", false}, {"true", true}, {"false", false},
                          {"yes", true}, {"no", false},  {"1", true},    {"0", false}};
  return option(name, field, words, meaning);
}

// Any text.
inline Option option(std::string_view name, std::string& field, std::string_view meaning) {
  const auto parse = [&field](std::string_view text) {
    field = text;
    return true;
  };
  return {name, meaning, "text", parse, [&field] { return field; }};
}

// A fraction, a whole number or a duration, within a range in its unit.
template <class Value>
Option option(std::string_view name, Value& field, std::string_view unit, std::uint64_t minimum,
              std::uint64_t maximum, std::string_view meaning) {
  using Number = std::conditional_t<std::floating_point<Value>, double, std::uint64_t>;
  const auto parse = [&field, minimum, maximum](std::string_view text) {
    Number number{};
    // NaN is inside no range.
    if (!parse_number(text, number) ||
        !(number >= static_cast<Number>(minimum) && number <= static_cast<Number>(maximum)))
      return false;
    field = static_cast<Value>(number);
    return true;
  };
  const auto print = [&field] {
    if constexpr (requires { field.count(); })
      return fmt::format("{}", field.count());
    else
      return fmt::format("{}", field);
  };
  return {name,
          meaning,
          fmt::format("{} to {}", minimum, maximum),
          parse,
          print,
          unit,
          std::floating_point<Value> ? "a number from " : "a whole number from "};
}

}  // namespace lapse
