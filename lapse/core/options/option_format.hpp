// How option values are parsed, printed and described, by type.
#pragma once

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "lapse/core/error.hpp"
#include "lapse/core/options.hpp"
#include "lapse/core/options/option_row.hpp"

namespace lapse::detail {

// The words for the values of bool and enum options; a value's first word is the one printed.
template <class Value>
struct Word {
  std::string_view text;
  Value value;
};
template <class Value>
struct Words;
template <>
struct Words<bool> {
  static constexpr std::array<Word<bool>, 8> table{{{"on", true},
                                                    {"off", false},
                                                    {"true", true},
                                                    {"false", false},
                                                    {"yes", true},
                                                    {"no", false},
                                                    {"1", true},
                                                    {"0", false}}};
};
template <>
struct Words<Helping> {
  static constexpr std::array<Word<Helping>, 2> table{{{"on", Helping::on}, {"off", Helping::off}}};
};
template <>
struct Words<RmaChoice> {
  static constexpr std::array<Word<RmaChoice>, 3> table{
      {{"auto", RmaChoice::automatic}, {"on", RmaChoice::on}, {"off", RmaChoice::off}}};
};
template <>
struct Words<LogLevel> {
  static constexpr std::array<Word<LogLevel>, 4> table{{{"error", LogLevel::error},
                                                        {"warning", LogLevel::warning},
                                                        {"info", LogLevel::info},
                                                        {"debug", LogLevel::debug}}};
};

// How values of one type are parsed and printed: by words; below, specialisations for numbers and durations.
template <class Value>
struct OptionFormat {
  static Value parse(std::string_view text, const OptionDescription& description) {
    for (const Word<Value>& word : Words<Value>::table) {
      if (word.text == text) return word.value;
    }
    throw ConfigurationError(
        fmt::format("option {} cannot be '{}': expected {}", description.name, text, values(description)));
  }
  static std::string print(Value value) {
    for (const Word<Value>& word : Words<Value>::table) {
      if (word.value == value) return std::string(word.text);
    }
    return "none of its values";
  }
  static std::string values(const OptionDescription& /*description*/) {
    std::string list;
    for (const Word<Value>& word : Words<Value>::table) {
      if (print(word.value) == word.text) list += (list.empty() ? "" : ", ") + std::string(word.text);
    }
    return list;
  }
};

// Any text.
template <>
struct OptionFormat<std::string> {
  static std::string parse(std::string_view text, const OptionDescription& /*description*/) {
    return std::string(text);
  }
  static std::string print(const std::string& value) { return value; }
  static std::string values(const OptionDescription& /*description*/) { return "text"; }
};

// Two words or a number.
template <class Choice, auto Number>
struct HostRankOrNumber {
  static Choice parse(std::string_view text, const OptionDescription& description) {
    if (text == "host") return {Choice::Kind::host, 1};
    if (text == "rank") return {Choice::Kind::rank, 1};
    std::int32_t number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc{} || end != text.data() + text.size() || number < 1) {
      throw ConfigurationError(fmt::format("option {} cannot be '{}': expected {}", description.name, text,
                                           OptionFormat<Choice>::values(description)));
    }
    return {Choice::Kind::number, number};
  }
  static std::string print(Choice value) {
    if (value.kind == Choice::Kind::number) return std::to_string(value.*Number);
    return value.kind == Choice::Kind::host ? "host" : "rank";
  }
};

template <>
struct OptionFormat<DomainChoice> : HostRankOrNumber<DomainChoice, &DomainChoice::ranks> {
  static std::string values(const OptionDescription& /*description*/) {
    return "host, rank, or a number of ranks";
  }
};

template <>
struct OptionFormat<CheckpointFiles> : HostRankOrNumber<CheckpointFiles, &CheckpointFiles::files> {
  static std::string values(const OptionDescription& /*description*/) {
    return "host, rank, or a number of files";
  }
};

template <std::unsigned_integral Number>
requires(!std::same_as<Number, bool>) struct OptionFormat<Number> {
  static Number parse(std::string_view text, const OptionDescription& description) {
    std::uint64_t number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc{} || end != text.data() + text.size() || number < description.minimum ||
        number > description.maximum) {
      throw ConfigurationError(fmt::format("option {} cannot be '{}': expected a whole number from {}{}{}",
                                           description.name, text, values(description),
                                           description.unit.empty() ? "" : " in ", description.unit));
    }
    return static_cast<Number>(number);
  }
  static std::string print(Number value) { return std::to_string(value); }
  static std::string values(const OptionDescription& description) {
    return fmt::format("{} to {}", description.minimum, description.maximum);
  }
};

// Fractions; whole numbers are accepted, too.
template <>
struct OptionFormat<double> {
  static double parse(std::string_view text, const OptionDescription& description) {
    double number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    // NaN is inside no range.
    if (problem != std::errc{} || end != text.data() + text.size() ||
        !(number >= static_cast<double>(description.minimum) &&
          number <= static_cast<double>(description.maximum))) {
      throw ConfigurationError(fmt::format("option {} cannot be '{}': expected a number from {}{}{}",
                                           description.name, text, values(description),
                                           description.unit.empty() ? "" : " in ", description.unit));
    }
    return number;
  }
  static std::string print(double value) { return fmt::format("{}", value); }
  static std::string values(const OptionDescription& description) {
    return OptionFormat<std::uint64_t>::values(description);
  }
};

template <class Representation, class Period>
struct OptionFormat<std::chrono::duration<Representation, Period>> {
  using Duration = std::chrono::duration<Representation, Period>;
  static Duration parse(std::string_view text, const OptionDescription& description) {
    return Duration(OptionFormat<std::uint64_t>::parse(text, description));
  }
  static std::string print(Duration value) { return std::to_string(value.count()); }
  static std::string values(const OptionDescription& description) {
    return OptionFormat<std::uint64_t>::values(description);
  }
};

}  // namespace lapse::detail
