#include "apps/word_vectors/known_vectors.hpp"

#include <fmt/format.h>

#include "apps/common/model_description.hpp"
#include "apps/model_files/known_rows.hpp"
#include "apps/word_vectors/vector_file.hpp"
#include "lapse/core/error.hpp"
#include "lapse/io/files/input.hpp"

namespace lapse::apps {

namespace {

constexpr std::string_view kOption = "--initial";

std::string path_of_vectors(const std::string& path) {
  if (!path.ends_with(".json")) return path;
  const ModelDescription model = ModelDescription::read(path);
  require_kind(model, "word_vectors", kOption);
  return model.path_of("vectors");
}

}  // namespace

WordVectors read_known_vectors(const std::string& path, std::size_t dimensions) {
  const std::string file = path_of_vectors(path);
  WordVectors vectors = read_vectors(io::Input(file));
  if (vectors.dimensions == dimensions) return vectors;
  throw ConfigurationError(fmt::format("{}: the vectors of {} have {} dimensions, but --dim is {}", kOption,
                                       file, vectors.dimensions, dimensions));
}

std::string set_known_vectors(Worker& worker, const std::string& path, const WordVectors& vectors,
                              const io::Vocabulary& words, const VectorTables& tables) {
  const std::uint64_t known =
      set_known_rows(worker, tables.inputs, 0, words.size(), vectors.values,
                     [&](std::uint64_t word) -> std::optional<std::size_t> {
                       return vectors.words.find(words.name(static_cast<io::Vocabulary::Id>(word)));
                     });
  return fmt::format("starts from {}: {} of {} words are known", path, known, words.size());
}

}  // namespace lapse::apps
