// Reads the sentences of a part of the text, as word ids.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "apps/common/corpus.hpp"
#include "apps/common/text_form.hpp"
#include "lapse/io/text/line_reader.hpp"

namespace lapse::apps {

using Sentence = std::vector<WordId>;

// Reads one part of each file, one file after the other, and skips words outside the vocabulary. The corpus
// must outlive it. Used by one thread.
class SentenceReader {
 public:
  SentenceReader(const Corpus& corpus, io::FilePart part)
      : corpus_(corpus), part_(part), text_(corpus.form) {}

  // Reads the next sentence with at least one word. Returns false at the end. Throws FileError.
  bool next(Sentence& sentence);

 private:
  const Corpus& corpus_;
  io::FilePart part_;
  FormedText text_;
  std::size_t files_opened_ = 0;
  std::optional<io::LineReader> reader_;
};

}  // namespace lapse::apps
