// Documents as text.
#pragma once

#include <cstdint>

#include "apps/common/text_form.hpp"
#include "lapse/io/documents/bag_of_words.hpp"
#include "lapse/io/files/input.hpp"
#include "lapse/io/vocabulary/vocabulary.hpp"

namespace lapse::apps {

struct TextDocuments {
  io::BagOfWords bag;
  std::uint64_t unknown_tokens = 0;   // of all documents: the vocabulary lacks their words
  std::uint64_t empty_documents = 0;  // without words of the vocabulary
};

// Reads a file with a document on each line, plain or compressed: words separated by blanks, like those of a
// corpus. Words that the vocabulary lacks are left out. Every part reads the whole file and keeps its
// documents. Words of a document are in ascending order.
//
// Throws FileError, with line and column, for a line without words, for a byte that is not UTF-8, for a word
// longer than kMaxWordBytes, and what LineReader throws; without them for a file without documents, and if no
// document has a word of the vocabulary.
TextDocuments read_text_documents(const io::Input& input, const io::Vocabulary& vocabulary,
                                  io::DocumentPart part = {}, TextForm form = {});

}  // namespace lapse::apps
