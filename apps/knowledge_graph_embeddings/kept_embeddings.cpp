#include "apps/knowledge_graph_embeddings/kept_embeddings.hpp"

#include <span>
#include <vector>

#include "apps/common/table_reader.hpp"

namespace lapse::apps {

namespace {

Table<float> make_table(adapm::ParameterManager& manager, const std::string& name, const char* suffix,
                        const Table<float>& table) {
  // Each worker reads and writes an even range of keys.
  return manager.server().create_table<float>({.name = name.empty() ? "" : name + suffix,
                                               .keys = table.keys(),
                                               .length = table.length(),
                                               .home = HomeMapKind::range});
}

// A worker's share of all keys.
void copy_share(Worker& worker, const Table<float>& from, const Table<float>& to) {
  std::uint64_t next = from.keys() * worker.index() / worker.count();
  const std::uint64_t last = from.keys() * (worker.index() + 1) / worker.count();
  std::vector<Key> keys;
  read_keys(worker, from, next, last, [&](std::span<const float> values) {
    keys.clear();
    for (std::size_t row = 0; row < values.size() / from.length(); ++row) keys.emplace_back(next++);
    worker.set(to, keys, values).wait();
  });
}

void copy(ParameterServer& server, const EmbeddingTables& from, const EmbeddingTables& to) {
  server.run_workers(1, [&](Worker& worker) {
    // Pushes of other domains to replicas are included, and must not be added again later.
    worker.sync_barrier();
    copy_share(worker, from.entities, to.entities);
    copy_share(worker, from.relations, to.relations);
    worker.sync_barrier();
  });
}

}  // namespace

KeptEmbeddings::KeptEmbeddings(adapm::ParameterManager& manager, const std::string& name,
                               const EmbeddingTables& tables)
    : server_(manager.server()),
      kept_{make_table(manager, name, "-best-entities", tables.entities),
            make_table(manager, name, "-best-relations", tables.relations)} {}

void KeptEmbeddings::keep(const EmbeddingTables& tables) {
  copy(server_, tables, kept_);
}

void KeptEmbeddings::restore(const EmbeddingTables& tables) const {
  copy(server_, kept_, tables);
}

}  // namespace lapse::apps
