// The vocabulary of a text, counted by all workers of all ranks.
#pragma once

#include <cstdint>
#include <functional>

#include "apps/word_vectors/corpus.hpp"
#include "lapse/ps/parameter_server.hpp"

namespace lapse::apps {

// Collective. Each of the workers, one at least on each rank, counts the words of a part of the text. Throws
// as count_words and make_corpus do: on every rank PeerFailed, with the text of the rank that failed.
Corpus load_corpus(ParameterServer& server, std::int32_t workers, const CorpusOptions& options);

}  // namespace lapse::apps
