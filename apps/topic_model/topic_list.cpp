#include "apps/topic_model/topic_list.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "apps/common/manager_program.hpp"

namespace lapse::apps {

namespace {

// By topic: the number of words, then the words.
std::string to_bytes(const TopicWordLists& topics) {
  std::string bytes;
  const auto append = [&](io::Vocabulary::Id number) {
    bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  for (const auto& words : topics) {
    append(static_cast<io::Vocabulary::Id>(words.size()));
    for (const io::Vocabulary::Id word : words) append(word);
  }
  return bytes;
}

TopicWordLists from_bytes(const std::string& bytes) {
  TopicWordLists topics;
  std::size_t at = 0;
  const auto next = [&] {
    io::Vocabulary::Id number = 0;
    std::memcpy(&number, bytes.data() + at, sizeof number);
    at += sizeof number;
    return number;
  };
  while (at < bytes.size()) {
    topics.emplace_back(next());
    for (io::Vocabulary::Id& word : topics.back()) word = next();
  }
  return topics;
}

}  // namespace

std::vector<TopicWords> list_topics(ParameterServer& server, TopicTrainer& trainer, std::size_t words,
                                    std::size_t coherence_words) {
  std::vector<TopicWords> topics;
  run_on_rank_0(server, [&](Worker& worker) {
    topics = read_top_words(worker, trainer.tables(), std::max(words, coherence_words));
  });
  if (coherence_words != 0) {
    const auto own = [&] {
      TopicWordLists lists;
      for (const TopicWords& topic : topics) {
        auto& list = lists.emplace_back();
        for (std::size_t i = 0; i < std::min(coherence_words, topic.words.size()); ++i)
          list.push_back(topic.words[i].word);
      }
      return to_bytes(lists);
    };
    const auto coherences = trainer.coherences(from_bytes(server.exchange("list_topics", own).front()));
    for (std::size_t topic = 0; topic < topics.size(); ++topic) topics[topic].coherence = coherences[topic];
  }
  for (TopicWords& topic : topics) topic.words.resize(std::min(words, topic.words.size()));
  return topics;
}

std::optional<double> mean_coherence(const std::vector<TopicWords>& topics) {
  double sum = 0;
  std::size_t count = 0;
  for (const TopicWords& topic : topics) {
    if (!topic.coherence) continue;
    sum += *topic.coherence;
    ++count;
  }
  return count == 0 ? std::nullopt : std::optional(sum / static_cast<double>(count));
}

}  // namespace lapse::apps
