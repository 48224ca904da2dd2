// Files of word vectors, in the two formats of word2vec.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "apps/common/model_description.hpp"
#include "apps/word_vectors/word_vectors.hpp"
#include "lapse/io/files/input.hpp"
#include "lapse/io/files/output_file.hpp"

namespace lapse::apps {

// Both begin with a line `words dimensions`. For each word follows:
//   text    the word, and its numbers, separated by blanks, and a line end
//   binary  the word, a blank, its numbers as little-endian floats, and a line end
enum class VectorFormat : std::uint8_t { text, binary };

// Writes vectors word by word. The file gets its final name when close() succeeds. Text has the shortest
// digits that read back as the same numbers. Used by one thread.
class VectorFileWriter {
 public:
  // Creates the file. Throws FileError.
  VectorFileWriter(const std::string& path, VectorFormat format, std::size_t words, std::size_t dimensions);

  // Throws FileError, and UsageError for a vector of another length.
  void append(std::string_view word, std::span<const float> vector);
  // Throws FileError, and UsageError if words are missing.
  void close();

 private:
  void write_block();

  io::OutputFile file_;
  VectorFormat format_;
  std::size_t words_left_;
  std::size_t dimensions_;
  std::string block_;
};

// Of a file that was written.
ModelDescription describe_vectors(VectorFormat format, std::size_t words, std::size_t dimensions,
                                  const std::string& path);

// Reads either format, plain or compressed; the first vector decides which one. Text may lack the first line,
// as in files of GloVe: a word and two numbers or more in the first line begin the vectors. Numbers too small
// for a float become 0. Throws FileError for a malformed or truncated file, for a number that is not finite
// or too large for a float, and for a word that occurs twice or has more than kMaxWordBytes.
WordVectors read_vectors(const io::Input& input);

}  // namespace lapse::apps
