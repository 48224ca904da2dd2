// The words that describe each topic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/topic_model/topic_tables.hpp"
#include "lapse/io/vocabulary/vocabulary.hpp"
#include "lapse/ps/worker.hpp"

namespace lapse::apps {

struct TopicWords {
  std::int64_t tokens = 0;
  struct Word {
    io::Vocabulary::Id word = 0;
    std::int32_t count = 0;  // tokens of the word with the topic
  };
  std::vector<Word> words;  // the most frequent ones, in descending order
  std::optional<double> coherence = {};
};

// Not collective. Reads the table of words; returns at most `words` words for each topic. Words that are
// equally frequent are in ascending order.
std::vector<TopicWords> read_top_words(Worker& worker, const TopicTables& tables, std::size_t words);

// A line for each topic, the largest first: number of the topic, its share of all tokens, its coherence
// ("-" without one), its words, separated by tabs and blanks. Without a vocabulary, words are their numbers,
// from 1.
std::string to_text(const std::vector<TopicWords>& topics, const io::Vocabulary& vocabulary);

}  // namespace lapse::apps
