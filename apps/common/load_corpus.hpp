// Counts the vocabulary of a text with all workers of all ranks.
#pragma once

#include <cstdint>
#include <functional>

#include "apps/common/corpus.hpp"
#include "lapse/ps/parameter_server.hpp"

namespace lapse::apps {

// Collective. Each worker, at least one on each rank, counts the words of a part of the text. If count_words
// or make_corpus throws on a rank, every rank throws PeerFailed with its message.
Corpus load_corpus(ParameterServer& server, std::int32_t workers, const CorpusOptions& options);

}  // namespace lapse::apps
