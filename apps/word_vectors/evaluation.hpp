// Measures the quality of word vectors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/word_vectors/analogies.hpp"
#include "apps/word_vectors/word_similarity.hpp"
#include "lapse/io/loading/reader_group.hpp"
#include "lapse/ps/parameter_server.hpp"

namespace lapse::apps {

struct EvaluationOptions {
  std::string analogies;        // file; empty: none
  std::string word_similarity;  // file; empty: none
};

// Questions about the vectors of a vocabulary; equal on all ranks.
struct EvaluationData {
  std::optional<AnalogyQuestions> analogies;
  std::optional<WordPairs> pairs;
};

// Collective over the group. Throws what the readers of the files and io::shared_inputs throw, and
// ConfigurationError if the vocabulary has the words of no question, or of no pair.
EvaluationData load_evaluation(const EvaluationOptions& options, const io::Vocabulary& words,
                               const io::ReaderGroup& group);

struct AnalogyResult {
  AnalogyScore total() const { return sum({true, true}); }
  AnalogyScore semantic() const { return sum({true, false}); }
  AnalogyScore syntactic() const { return sum({false, true}); }

  std::vector<AnalogyQuestions::Section> sections;
  std::vector<AnalogyScore> scores;  // by section
  std::uint64_t unknown = 0;         // skipped questions

 private:
  struct Kinds {
    bool semantic;
    bool syntactic;
  };
  AnalogyScore sum(Kinds kinds) const;
};

struct Evaluation {
  struct Similarity {
    double correlation = 0;
    std::uint64_t pairs = 0;
    std::uint64_t unknown = 0;  // skipped pairs
  };
  std::optional<AnalogyResult> analogies;
  std::optional<Similarity> similarity;
  double seconds = 0;
};

// Collective. Requires vectors equal on all ranks, with the vocabulary of the data. `workers` workers of each
// rank answer the questions.
Evaluation evaluate(ParameterServer& server, std::int32_t workers, const WordVectors& vectors,
                    const EvaluationData& data);

}  // namespace lapse::apps
