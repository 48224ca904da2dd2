// What the priors of a topic model are estimated from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lapse::apps {

// How often each count above 0 occurs. Thread safety: none.
class CountHistogram {
 public:
  struct Bin {
    std::int64_t count = 0;
    std::int64_t times = 0;
    bool operator==(const Bin&) const = default;
  };

  void add(std::int64_t count, std::int64_t times = 1);
  // In ascending order of counts.
  std::vector<Bin> bins() const;

 private:
  static constexpr std::size_t kSmall = 256;

  std::vector<std::int64_t> small_;             // times, by count below kSmall
  std::map<std::int64_t, std::int64_t> large_;  // times, by count
};

// Histograms of the counts in a topic model (Wallach, Structured Topic Models for Language, 2008, section
// 2.3): the priors depend on nothing else. Histograms of parts of a collection add up, exactly. Thread
// safety: none.
class PriorCounts {
 public:
  explicit PriorCounts(std::size_t topics) : topics_(topics) {}

  // A document, by the counts of its topics.
  void add_document(std::span<const std::int32_t> topics);
  // Of one or more words, each by the counts of its topics.
  void add_words(std::span<const std::int32_t> topics);
  // All topics, by their counts in all documents.
  void add_totals(std::span<const std::int64_t> topics);

  // Documents by tokens of a topic, by all their tokens; pairs of a word and a topic by tokens; topics by
  // tokens.
  const CountHistogram& topic(std::size_t topic) const { return topics_[topic]; }
  const CountHistogram& documents() const { return documents_; }
  const CountHistogram& words() const { return words_; }
  const CountHistogram& totals() const { return totals_; }

  // Of each histogram in turn, the topics first: the number of its bins (64 bits), count and times of each.
  std::string to_bytes() const;
  // Adds the counts of to_bytes. Throws ProtocolError for another number of topics, and for damaged bytes.
  void add_bytes(std::string_view bytes);

 private:
  std::vector<CountHistogram> topics_;
  CountHistogram documents_;
  CountHistogram words_;
  CountHistogram totals_;
};

}  // namespace lapse::apps
