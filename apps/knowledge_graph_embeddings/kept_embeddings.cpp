#include "apps/knowledge_graph_embeddings/kept_embeddings.hpp"

#include <algorithm>
#include <span>

#include "apps/common/table_reader.hpp"

namespace lapse::apps {

namespace {

struct KeyRange {
  std::uint64_t first;
  std::uint64_t last;
};

KeyRange share_of(const Worker& worker, const Table<float>& table) {
  return {table.keys() * worker.index() / worker.count(),
          table.keys() * (worker.index() + 1) / worker.count()};
}

void keep_share(Worker& worker, const Table<float>& table, std::vector<float>& kept) {
  const auto [first, last] = share_of(worker, table);
  kept.clear();
  kept.reserve((last - first) * table.length());
  read_keys(worker, table, first, last,
            [&](std::span<const float> values) { kept.insert(kept.end(), values.begin(), values.end()); });
}

void restore_share(Worker& worker, const Table<float>& table, std::span<const float> kept) {
  constexpr std::uint64_t kKeysPerCall = 4096;
  auto [first, last] = share_of(worker, table);
  std::vector<Key> keys;
  while (first < last) {
    keys.clear();
    for (; first < last && keys.size() < kKeysPerCall; ++first) keys.push_back(Key{first});
    worker.set(table, keys, kept.first(keys.size() * table.length())).wait();
    kept = kept.subspan(keys.size() * table.length());
  }
}

}  // namespace

void KeptEmbeddings::keep(ParameterServer& server, std::int32_t workers, const EmbeddingTables& tables) {
  const std::int32_t count = std::max(1, workers);
  shares_.resize(static_cast<std::size_t>(count));
  server.run_workers(count, [&](Worker& worker) {
    // What workers of other domains have pushed to copies counts.
    worker.sync_barrier();
    Share& share = shares_[worker.local_index()];
    keep_share(worker, tables.entities, share.entities);
    keep_share(worker, tables.relations, share.relations);
  });
}

void KeptEmbeddings::restore(ParameterServer& server, std::int32_t workers,
                             const EmbeddingTables& tables) const {
  server.run_workers(std::max(1, workers), [&](Worker& worker) {
    // Updates of copies that are merged later would come on top.
    worker.sync_barrier();
    const Share& share = shares_[worker.local_index()];
    restore_share(worker, tables.entities, share.entities);
    restore_share(worker, tables.relations, share.relations);
    worker.sync_barrier();
  });
}

}  // namespace lapse::apps
