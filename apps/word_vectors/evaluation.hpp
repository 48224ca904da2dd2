// How good word vectors are.
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

// What the vectors of a vocabulary are asked; equal on all ranks.
struct EvaluationData {
  std::optional<AnalogyQuestions> analogies;
  std::optional<WordPairs> pairs;
};

// Collective over the group. Throws as the readers of the files and io::shared_inputs do, and
// ConfigurationError when the vocabulary has no question's words, or no pair's.
EvaluationData load_evaluation(const EvaluationOptions& options, const io::Vocabulary& words,
                               const io::ReaderGroup& group);

struct AnalogyResult {
  AnalogyScore total() const { return sum({true, true}); }
  AnalogyScore semantic() const { return sum({true, false}); }
  AnalogyScore syntactic() const { return sum({false, true}); }

  std::vector<AnalogyQuestions::Section> sections;
  std::vector<AnalogyScore> scores;  // by section
  std::uint64_t unknown = 0;         // questions left out

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
    std::uint64_t unknown = 0;  // pairs left out
  };
  std::optional<AnalogyResult> analogies;
  std::optional<Similarity> similarity;
  double seconds = 0;
};

// Collective. The vectors are equal on all ranks, with the vocabulary of the data; so many workers of each
// rank answer the questions.
Evaluation evaluate(ParameterServer& server, std::int32_t workers, const WordVectors& vectors,
                    const EvaluationData& data);

}  // namespace lapse::apps
