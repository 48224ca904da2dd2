// The documents that a topic model is trained on, or that it is used for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/common/text_form.hpp"
#include "lapse/io/documents/bag_of_words.hpp"
#include "lapse/io/vocabulary/vocabulary.hpp"
#include "lapse/ps/parameter_server.hpp"

namespace lapse::apps {

enum class DocumentFormat : std::uint8_t { bag_of_words, text };

struct DocumentOptions {
  std::string file;
  DocumentFormat format = DocumentFormat::bag_of_words;
  TextForm form = {};           // of text
  std::string vocabulary = {};  // file; empty: none, or the words of the text
  std::uint64_t min_count = 5;  // of a text without vocabulary: rarer words are left out
  std::string stop_words = {};  // file of words that are left out, too; empty: none
};

// The documents of this rank's workers, of a collection that all workers share: each gets every n-th.
struct TopicDocuments {
  io::BagOfWords bag{0};
  io::Vocabulary vocabulary;  // of all documents; empty: words have no names
  // Of all documents of a text.
  std::uint64_t unknown_tokens = 0;
  std::uint64_t empty_documents = 0;  // without words of the vocabulary
};

// Collective. Streams are read by the first rank. `workers`: of each rank, or one number for all. The words
// of a text without a vocabulary are counted by all workers, and numbered by descending frequency, equal ones
// by their bytes. Throws PeerFailed, with the messages of the errors, on every rank: what the readers throw;
// FileError for a vocabulary with another number of words than the documents count; ConfigurationError if no
// word of a text occurs often enough.
TopicDocuments load_documents(ParameterServer& server, const DocumentOptions& options,
                              const std::vector<std::int32_t>& workers);

// The same, for more documents of a collection that counts these words. A text needs the vocabulary.
// `of_words`: what counts the words, for messages. Throws what load_documents throws, and FileError for a bag
// of words that counts other numbers of words.
TopicDocuments load_more_documents(ParameterServer& server, const DocumentOptions& options,
                                   const io::Vocabulary& vocabulary, std::uint64_t words,
                                   const std::string& of_words, const std::vector<std::int32_t>& workers);

}  // namespace lapse::apps
