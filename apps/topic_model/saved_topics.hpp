// Topics in files, to be used for other documents.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "adapm/parameter_manager.hpp"
#include "apps/topic_model/topic_priors.hpp"
#include "apps/topic_model/topic_tables.hpp"
#include "lapse/io/npy/npy_writer.hpp"
#include "lapse/io/vocabulary/vocabulary.hpp"

namespace lapse::apps {

// Writes <prefix>-counts.npy, how often each word occurs with each topic (words x topics, int32);
// <prefix>-priors.npy, alpha of each topic, then beta (float64); and <prefix>-vocabulary.txt, the words in
// the order of their numbers, if words have names; and <prefix>.json, their description (ModelDescription).
class TopicFiles {
 public:
  // Creates the files of numbers, so that a bad path is noticed before the training. Throws FileError.
  TopicFiles(const std::string& prefix, const TopicPriors& priors);

  // Not collective: called by one worker. The files get their final names on success; a vocabulary that
  // another model has left is removed. Throws FileError.
  void write(Worker& worker, const TopicTables& tables, const TopicPriors& priors,
             const io::Vocabulary& vocabulary);

 private:
  std::string prefix_;
  io::NpyWriter<std::int32_t> counts_;
  io::NpyWriter<double> priors_;
};

struct SavedTopics {
  TopicPriors priors;
  io::Vocabulary vocabulary = {};  // empty: words have no names
};

struct TopicPaths {
  std::string counts;
  std::string priors;
  std::string vocabulary;  // need not exist
};
TopicPaths topic_paths(const std::string& prefix);

// Reads all files except the counts, of which it reads the header. Throws FileError for files that are
// missing, have another form than TopicFiles writes, or do not match each other.
SavedTopics read_saved_topics(const TopicPaths& paths);

// Collective. Rank 0 reads the files for all. Throws PeerFailed, with the message of a FileError, on the
// other ranks, and FileError on rank 0.
SavedTopics read_saved_topics(ParameterServer& server, const std::string& prefix);

// Collective. Adds the counts to the tables of these topics, which have no counts yet; rank 0 reads them.
// Throws PeerFailed on every rank, with the message of a FileError, also for negative counts.
void load_saved_counts(ParameterServer& server, const std::string& prefix, const TopicTables& tables);

}  // namespace lapse::apps
