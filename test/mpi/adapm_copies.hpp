// Keys that are local in every domain, for tests of replicas.
#pragma once

#include <cstdint>
#include <thread>
#include <vector>

#include "adapm/parameter_manager.hpp"
#include "lapse/core/random.hpp"
#include "lapse/core/statistics.hpp"
#include "test/mpi/server_domains.hpp"
#include "test/mpi/server_expect.hpp"

namespace lapse::test {

// The environment chooses which ranks share memory.
inline adapm::Options options_of(adapm::Technique technique) {
  adapm::Options options = adapm::Options::from_environment();
  options.technique = technique;
  return options;
}

// The main copy of a key stays at its home, unless a test moves it. Intents make replicas in all other
// domains.
inline adapm::Options copies_by_intents() {
  return options_of(adapm::Technique::replication_only);
}

// The home rank of a key: the home of key number i is rank i modulo the number of ranks.
inline std::int32_t home_of(Key key, std::int32_t ranks) {
  return static_cast<std::int32_t>(key.value() % static_cast<std::uint64_t>(ranks));
}

// Keys of a sparse table are spread over all 64 bits. Each rank is the home of an equal share of them.
inline Key copied_key(bool sparse, std::uint64_t number, std::int32_t ranks) {
  if (!sparse) return Key(number);
  const auto divisor = static_cast<std::uint64_t>(ranks);
  return Key(mix_bits(number + 1) / divisor / 2 * divisor + number % divisor);
}

inline std::vector<Key> copied_keys(bool sparse, std::uint64_t count, std::int32_t ranks) {
  std::vector<Key> keys;
  for (std::uint64_t number = 0; number < count; ++number) keys.push_back(copied_key(sparse, number, ranks));
  return keys;
}

inline TableOptions copied_table(bool sparse, std::uint64_t count, std::int32_t ranks) {
  TableOptions options{.home = HomeMapKind::custom,
                       .home_function = [ranks](Key key) { return home_of(key, ranks); }};
  options.sparse = sparse;
  if (!sparse) options.keys = count;
  return options;
}

// Collective over all workers: announces the keys until the phase ends. Returns when all keys are local to
// all workers and no message is in flight.
template <Element T>
void make_local(adapm::IntentWorker& worker, const Table<T>& table, const std::vector<Key>& keys) {
  worker.intent(table, keys, worker.current_clock(), Clock(std::int64_t{1} << 60));
  for (const Key key : keys) {
    while (worker.locality(table, key) != Locality::local) {
      worker.advance_clock();
      std::this_thread::yield();
    }
  }
  worker.sync_barrier();
}

// Whether the rank's domain holds the main copy of a key that is at its home. In sparse tables, each rank is
// a domain of its own.
inline bool is_home(const DomainMap& domains, Rank rank, bool sparse, Key key, std::int32_t ranks) {
  const Rank home(home_of(key, ranks));
  return sparse ? rank == home : share_memory(domains, rank, home);
}

}  // namespace lapse::test
