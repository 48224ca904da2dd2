// Starts from given word vectors.
#pragma once

#include <string>

#include "apps/word_vectors/vector_tables.hpp"
#include "apps/word_vectors/word_vectors.hpp"
#include "lapse/io/vocabulary/vocabulary.hpp"

namespace lapse::apps {

// Reads the vectors of a trained model (the path of its description, <file>.json) or of a file of vectors.
// Throws what read_vectors and ModelDescription::read throw, and ConfigurationError for a model of another
// kind or vectors without `dimensions` numbers each.
WordVectors read_known_vectors(const std::string& path, std::size_t dimensions);

// Sets the vectors, as contexts, of the words that have one there; other words are new. Returns a line for
// the user. Not collective: called by one worker.
std::string set_known_vectors(Worker& worker, const std::string& path, const WordVectors& vectors,
                              const io::Vocabulary& words, const VectorTables& tables);

}  // namespace lapse::apps
