// Files of word vectors, of analogies and of pairs of words.
#include <cstring>
#include <span>
#include <string>

#include "apps/word_vectors/analogies.hpp"
#include "apps/word_vectors/vector_file.hpp"
#include "apps/word_vectors/word_similarity.hpp"
#include "lapse/core/file_error.hpp"
#include "test/fuzz/fuzz_check.hpp"
#include "test/fuzz/fuzz_file.hpp"
#include "test/fuzz/fuzz_input.hpp"
#include "test/fuzz/fuzz_target.hpp"

namespace lapse::test {
namespace {

void check_equal(const apps::WordVectors& a, const apps::WordVectors& b) {
  check(a.dimensions == b.dimensions && a.words.to_bytes() == b.words.to_bytes() &&
            std::memcmp(a.values.data(), b.values.data(), a.values.size() * sizeof(float)) == 0,
        "word vectors survive");
}

void read_vectors(const std::string& bytes, std::size_t piece) {
  static const FuzzFile file;
  try {
    const apps::WordVectors vectors = apps::read_vectors(source_input(bytes, piece));
    check(vectors.values.size() == vectors.words.size() * vectors.dimensions, "each word has a vector");
    check_equal(vectors, apps::read_vectors(source_input(bytes)));
    apps::VectorFileWriter writer(file.path(), apps::VectorFormat::binary, vectors.words.size(),
                                  vectors.dimensions);
    for (io::Vocabulary::Id word = 0; word < vectors.words.size(); ++word)
      writer.append(vectors.words.name(word),
                    std::span(vectors.values).subspan(word * vectors.dimensions, vectors.dimensions));
    writer.close();
    static_cast<void>(apps::read_vectors(file.path()));
  } catch (const FileError&) {
    // Refused.
  }
}

io::Vocabulary few_words() {
  io::Vocabulary words;
  for (const char* const word : {"king", "queen", "man", "woman"}) words.add(word);
  return words;
}

void read_questions(const std::string& bytes) {
  const io::Vocabulary words = few_words();
  try {
    const apps::AnalogyQuestions questions = apps::read_analogies(source_input(bytes), words);
    for (const apps::Analogy& question : questions.known)
      check(question.section < questions.sections.size() && question.d < words.size(), "ids exist");
  } catch (const FileError&) {
    // Refused.
  }
  try {
    for (const apps::WordPair& pair : apps::read_word_pairs(source_input(bytes), words).known)
      check(pair.first < words.size() && pair.second < words.size(), "ids exist");
  } catch (const FileError&) {
    // Refused.
  }
}

}  // namespace
}  // namespace lapse::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lapse::test::FuzzInput input(data, size);
  const std::uint8_t choice = input.byte();
  const std::string bytes = input.rest();
  if (choice % 4 == 0) {
    lapse::test::read_questions(bytes);
  } else {
    lapse::test::read_vectors(bytes, choice);
  }
  return 0;
}
