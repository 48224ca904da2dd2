// Analogies as a test of word vectors: Athens is to Greece as Baghdad is to ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apps/word_vectors/word_vectors.hpp"
#include "lapse/io/files/input.hpp"

namespace lapse::apps {

// a is to b as c is to d.
struct Analogy {
  io::Vocabulary::Id a;
  io::Vocabulary::Id b;
  io::Vocabulary::Id c;
  io::Vocabulary::Id d;
  std::uint32_t section;
};

// Questions whose words are in a vocabulary.
struct AnalogyQuestions {
  struct Section {
    std::string name;
    std::uint64_t unknown = 0;  // questions with an unknown word
    // Like compute-accuracy of word2vec: sections whose names begin with `gram`.
    bool is_syntactic() const { return name.starts_with("gram"); }
  };
  std::vector<Section> sections;
  std::vector<Analogy> known;
};

// Reads `: section` lines and questions of four words, which it converts to lower case (ASCII). Throws
// FileError for another number of words, a question before the first section, a section name that is not
// UTF-8, and a file without questions.
AnalogyQuestions read_analogies(const io::Input& input, const io::Vocabulary& words);

// Answers questions with the word d with the largest cosine with b - a + c, of all words except a, b and c
// (3CosAdd: Mikolov et al. 2013; Levy & Goldberg 2014). Immutable, so any number of threads may use it.
class AnalogySolver {
 public:
  // `rows`: normalized_rows of the vectors; must outlive the object.
  AnalogySolver(std::span<const float> rows, std::size_t dimensions) : rows_(rows), dimensions_(dimensions) {}

  // For each question, whether the answer is the expected one.
  std::vector<bool> is_correct(std::span<const Analogy> questions) const;

 private:
  std::span<const float> rows_;
  std::size_t dimensions_;
};

// The number of correct answers, and of all.
struct AnalogyScore {
  std::int64_t correct = 0;
  std::int64_t answered = 0;

  double accuracy() const {
    return answered == 0 ? 0 : static_cast<double>(correct) / static_cast<double>(answered);
  }
  AnalogyScore& operator+=(const AnalogyScore& other) {
    correct += other.correct;
    answered += other.answered;
    return *this;
  }
};

}  // namespace lapse::apps
