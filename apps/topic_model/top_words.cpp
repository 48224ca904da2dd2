#include "apps/topic_model/top_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "apps/common/table_reader.hpp"

namespace lapse::apps {

std::vector<TopicWords> read_top_words(Worker& worker, const TopicTables& tables, std::size_t words) {
  const std::size_t topics = tables.words.length();
  std::vector<TopicWords> top(topics);
  // The heap's first word is the last of those kept. Later words follow equal ones.
  const auto comes_before = [](const TopicWords::Word& a, const TopicWords::Word& b) {
    return a.count != b.count ? a.count > b.count : a.word < b.word;
  };
  io::Vocabulary::Id word = 0;
  read_keys(worker, tables.words, 0, tables.words.keys(), [&](std::span<const std::int32_t> counts) {
    for (; !counts.empty(); counts = counts.subspan(topics), ++word) {
      for (std::size_t topic = 0; topic < topics; ++topic) {
        const TopicWords::Word next{word, counts[topic]};
        std::vector<TopicWords::Word>& kept = top[topic].words;
        top[topic].tokens += next.count;
        if (next.count <= 0 || words == 0) continue;
        if (kept.size() == words) {
          if (!comes_before(next, kept.front())) continue;
          std::ranges::pop_heap(kept, comes_before);
          kept.pop_back();
        }
        kept.push_back(next);
        std::ranges::push_heap(kept, comes_before);
      }
    }
  });
  for (TopicWords& topic : top) std::ranges::sort_heap(topic.words, comes_before);
  return top;
}

std::string to_text(const std::vector<TopicWords>& topics, const io::Vocabulary& vocabulary) {
  std::vector<std::size_t> order(topics.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t i) { return topics[i].tokens; });
  std::int64_t all = 0;
  for (const TopicWords& topic : topics) all += topic.tokens;
  std::string text;
  for (const std::size_t number : order) {
    const TopicWords& topic = topics[number];
    const double share = all == 0 ? 0 : static_cast<double>(topic.tokens) / static_cast<double>(all);
    fmt::format_to(std::back_inserter(text), "{}\t{:.5f}\t{}\t", number + 1, share,
                   topic.coherence ? fmt::format("{:.4f}", *topic.coherence) : "-");
    for (std::size_t i = 0; i < topic.words.size(); ++i) {
      const io::Vocabulary::Id word = topic.words[i].word;
      if (i != 0) text += ' ';
      text += vocabulary.empty() ? std::to_string(word + 1) : std::string(vocabulary.name(word));
    }
    text += '\n';
  }
  return text;
}

}  // namespace lapse::apps
