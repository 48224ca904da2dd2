#include "apps/model_files/known_rows.hpp"

#include <fmt/format.h>

#include <vector>

#include "lapse/core/error.hpp"

namespace lapse::apps {

std::uint64_t set_known_rows(Worker& worker, const Table<float>& table, std::uint64_t first,
                             std::uint64_t rows, std::span<const float> values,
                             const std::function<std::optional<std::size_t>(std::uint64_t)>& source) {
  constexpr std::size_t kRowsAtOnce = 4096;
  const std::size_t length = table.length();
  std::uint64_t known = 0;
  std::vector<Key> keys;
  std::vector<float> block;
  const auto set_block = [&] {
    worker.set(table, keys, block).wait();
    known += keys.size();
    keys.clear();
    block.clear();
  };
  for (std::uint64_t row = 0; row < rows; ++row) {
    const std::optional<std::size_t> from = source(row);
    if (!from) continue;
    keys.emplace_back(first + row);
    const std::span<const float> given = values.subspan(*from * length, length);
    block.insert(block.end(), given.begin(), given.end());
    if (keys.size() == kRowsAtOnce) set_block();
  }
  if (!keys.empty()) set_block();
  return known;
}

void require_kind(const ModelDescription& model, std::string_view kind, std::string_view option) {
  if (model.kind() == kind) return;
  throw ConfigurationError(fmt::format("{}: {} describes a model of kind {}, expected {}", option,
                                       model.path(), model.kind(), kind));
}

void require_same(const ModelDescription& model, std::string_view what, std::string_view found,
                  std::string_view own, std::string_view option) {
  if (found == own) return;
  throw ConfigurationError(fmt::format("{}: {} of {} is {}, but {} in this training: give it the same value",
                                       option, what, model.path(), found, own));
}

}  // namespace lapse::apps
