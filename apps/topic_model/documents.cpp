#include "apps/topic_model/documents.hpp"

#include <fmt/format.h>

#include <utility>

#include "apps/common/load_corpus.hpp"
#include "apps/common/worker_counts.hpp"
#include "apps/common/worker_readers.hpp"
#include "apps/topic_model/text_documents.hpp"
#include "apps/topic_model/worker_documents.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/file_error.hpp"
#include "lapse/io/loading/shared_inputs.hpp"
#include "lapse/io/vocabulary/vocabulary_file.hpp"

namespace lapse::apps {

namespace {

io::Vocabulary load_vocabulary(ParameterServer& server, const std::string& file) {
  io::Vocabulary vocabulary;
  server.run_workers(1, [&](Worker& worker) {
    vocabulary = io::read_vocabulary(io::shared_inputs({file}, worker_readers(server, worker)).front());
    if (vocabulary.empty()) throw FileError(file, "has no words, expected a word on each line");
  });
  return vocabulary;
}

void read(ParameterServer& server, const DocumentOptions& options, const std::vector<std::int32_t>& workers,
          TopicDocuments& documents) {
  const io::DocumentPart part = part_of_rank(workers, server.rank(), server.ranks());
  server.run_workers(1, [&](Worker& worker) {
    const io::Input input = io::shared_inputs({options.file}, worker_readers(server, worker)).front();
    if (options.format == DocumentFormat::bag_of_words) {
      documents.bag = io::read_bag_of_words(input, part);
      return;
    }
    TextDocuments text = read_text_documents(input, documents.vocabulary, part, options.form);
    documents.bag = std::move(text.bag);
    documents.unknown_tokens = text.unknown_tokens;
    documents.empty_documents = text.empty_documents;
  });
}

}  // namespace

TopicDocuments load_documents(ParameterServer& server, const DocumentOptions& options,
                              const std::vector<std::int32_t>& workers) {
  check_worker_counts(workers, server.ranks());
  TopicDocuments documents;
  if (!options.vocabulary.empty()) {
    documents.vocabulary = load_vocabulary(server, options.vocabulary);
  } else if (options.format == DocumentFormat::text) {
    CorpusOptions corpus{.files = {options.file}, .min_count = options.min_count, .form = options.form};
    if (!options.stop_words.empty()) corpus.stop_words = load_vocabulary(server, options.stop_words);
    documents.vocabulary = load_corpus(server, workers_of(workers, server.rank()), corpus).words;
  }
  read(server, options, workers, documents);
  if (!documents.vocabulary.empty() && documents.vocabulary.size() != documents.bag.words()) {
    throw FileError(options.vocabulary,
                    fmt::format("has {} words, but {} counts {} different words", documents.vocabulary.size(),
                                options.file, documents.bag.words()));
  }
  return documents;
}

TopicDocuments load_more_documents(ParameterServer& server, const DocumentOptions& options,
                                   const io::Vocabulary& vocabulary, std::uint64_t words,
                                   const std::string& of_words, const std::vector<std::int32_t>& workers) {
  check_worker_counts(workers, server.ranks());
  TopicDocuments documents;
  if (options.format == DocumentFormat::text) {
    if (vocabulary.empty()) {
      throw ConfigurationError(
          fmt::format("{} has no vocabulary, which the words of the text {} need", of_words, options.file));
    }
    documents.vocabulary = vocabulary;
  }
  read(server, options, workers, documents);
  if (documents.bag.words() != words) {
    throw FileError(options.file, fmt::format("counts {} different words, but {} counts {}",
                                              documents.bag.words(), of_words, words));
  }
  return documents;
}

}  // namespace lapse::apps
