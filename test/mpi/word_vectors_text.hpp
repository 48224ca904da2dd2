// A text with a structure that word vectors can learn.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "lapse/core/random.hpp"

namespace lapse::test {

inline constexpr std::uint64_t kTopics = 6;
inline constexpr std::uint64_t kTopicWords = 8;

inline std::string topic_word(std::uint64_t topic, std::uint64_t word) {
  return fmt::format("{}{}", static_cast<char>('a' + topic), word);
}

// Each sentence has a topic: it contains only words of that topic.
inline std::string text_of_topics(std::uint64_t sentences) {
  RandomEngine random(1);
  std::string text;
  for (std::uint64_t sentence = 0; sentence < sentences; ++sentence) {
    const std::uint64_t topic = random.below(kTopics);
    for (int i = 0; i < 10; ++i) text += fmt::format("{} ", topic_word(topic, random.below(kTopicWords)));
    text += '\n';
  }
  return text;
}

}  // namespace lapse::test
