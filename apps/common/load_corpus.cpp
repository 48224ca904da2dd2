#include "apps/common/load_corpus.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "apps/common/worker_readers.hpp"
#include "lapse/io/vocabulary/vocabulary_merge.hpp"

namespace lapse::apps {

namespace {

// Called by one worker of every rank.
io::AllGather all_gather_of(Worker& worker) {
  return [&worker](std::vector<std::byte> own) {
    std::vector<std::vector<std::byte>> all(worker.count());
    all[worker.index()] = std::move(own);
    for (std::size_t root = 0; root < all.size(); ++root) {
      std::uint64_t bytes = all[root].size();
      worker.broadcast(std::as_writable_bytes(std::span(&bytes, 1)), root);
      all[root].resize(bytes);
      if (bytes != 0) worker.broadcast(all[root], root);
    }
    return all;
  };
}

}  // namespace

Corpus load_corpus(ParameterServer& server, std::int32_t workers, const CorpusOptions& options) {
  server.run_workers(
      1, [&](Worker& worker) { check_corpus_files(options.files, worker_readers(server, worker)); });
  std::vector<io::Vocabulary> counted(static_cast<std::size_t>(std::max(1, workers)));
  server.run_workers(std::max(1, workers), [&](Worker& worker) {
    const io::FilePart part{static_cast<std::uint32_t>(worker.index()),
                            static_cast<std::uint32_t>(worker.count())};
    counted[worker.local_index()] = count_words(options.files, part, options.form);
  });
  Corpus corpus;
  server.run_workers(1, [&](Worker& worker) {
    io::Vocabulary rank = std::move(counted[0]);
    for (std::size_t i = 1; i < counted.size(); ++i) {
      for (WordId id = 0; id < counted[i].size(); ++id) rank.add(counted[i].name(id), counted[i].count(id));
      counted[i] = {};
    }
    corpus = make_corpus(options, rank, all_gather_of(worker));
    if (worker.index() == 0) corpus.files_checksum = checksum_of(corpus.files);
    worker.broadcast(std::as_writable_bytes(std::span(&corpus.files_checksum, 1)), 0);
  });
  return corpus;
}

}  // namespace lapse::apps
