// Remote reads by MPI, and lookups of owners by remote reads. Windows are forced, between hosts or within
// one.
#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <vector>

#include "lapse/core/statistics.hpp"
#include "lapse/ps/parameter_server.hpp"
#include "lapse/transport/mpi/transport.hpp"
#include "test/mpi/server_domains.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using lapse::test::expect;
using lapse::test::key_range;

namespace {

constexpr std::uint64_t kWords = 100;

// Exposes words and reads the words of other ranks.
class Reader {
 public:
  // The second rank exposes no memory.
  explicit Reader(MpiTransport& transport)
      : transport_(transport), words_(transport.rank().value() == 1 ? 0 : kWords) {
    transport_.remote_reads()->set_handler([this](std::span<const RemoteReads::Finished> reads) {
      for (const RemoteReads::Finished& read : reads) {
        ++finished_;
        seen_.at(read.tag) = read.value;
      }
    });
    set(0);
    number_ = transport_.remote_reads()->expose(std::as_bytes(std::span(words_)));
  }

  std::uint32_t number() const { return number_; }
  static std::uint64_t word(Rank rank, std::uint64_t i, std::uint64_t round) {
    return (round << 32U) + rank.index() * 1000 + i;
  }
  void set(std::uint64_t round) {
    for (std::uint64_t i = 0; i < words_.size(); ++i)
      std::atomic_ref(words_[i]).store(word(transport_.rank(), i, round), std::memory_order_relaxed);
  }

  // Reads all words of all ranks, in rank order, with many reads in flight. `changing`: this rank's words
  // change meanwhile.
  std::vector<std::uint64_t> read_all(bool changing = false) {
    std::size_t begun = 0;
    finished_ = 0;
    seen_.assign(static_cast<std::size_t>(transport_.ranks()) * kWords, 0);
    for (std::int32_t rank = 0; rank < transport_.ranks(); ++rank) {
      for (std::uint64_t i = 0; i < kWords && rank != 1; ++i, ++begun)
        transport_.remote_reads()->begin(Rank(rank), number_, i * sizeof(std::uint64_t),
                                         Rank(rank).index() * kWords + i);
    }
    CHECK_FALSE(transport_.idle());
    while (!transport_.idle()) {
      transport_.poll([](Rank, std::span<const std::byte>) {}, 1);
      if (changing) set(++round_);
    }
    CHECK(finished_ == begun);
    return seen_;
  }

 private:
  MpiTransport& transport_;
  std::vector<std::uint64_t> words_;
  std::uint32_t number_ = 0;
  std::size_t finished_ = 0;
  std::uint64_t round_ = 0;
  std::vector<std::uint64_t> seen_;
};

// Whether all words of the other ranks have the values of their rank and the round.
bool all_are(const std::vector<std::uint64_t>& seen, std::uint64_t round) {
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const Rank rank(static_cast<std::int32_t>(i / kWords));
    if (rank.value() != 1 && seen[i] != Reader::word(rank, i % kWords, round)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("remote reads: every rank reads what the others have exposed, and then what they have changed") {
  MpiTransport transport(MPI_COMM_WORLD, {.rma = RmaChoice::on});
  INFO(transport.rma_receive_rings()->report().text);
  REQUIRE((transport.remote_reads() != nullptr) == (transport.ranks() > 1));
  if (transport.ranks() > 1) {
    Reader first(transport);
    CHECK(first.number() == 0);
    CHECK(all_are(first.read_all(), 0));
    transport.all_gather({});
    first.set(7);
    transport.all_gather({});
    CHECK(all_are(first.read_all(), 7));
    transport.all_gather({});
    CHECK(Reader(transport).number() == 1);
  }
  transport.close();
}

TEST_CASE("remote reads: words that change meanwhile are read as they are or were") {
  MpiTransport transport(MPI_COMM_WORLD, {.rma = RmaChoice::on});
  if (transport.ranks() > 1) {
    Reader reader(transport);
    std::vector<std::uint64_t> before = reader.read_all(true);
    for (int round = 0; round < 20; ++round) {
      std::vector<std::uint64_t> now = reader.read_all(true);
      for (std::size_t i = 0; i < now.size(); ++i) {
        REQUIRE(now[i] % (std::uint64_t{1} << 32U) == before[i] % (std::uint64_t{1} << 32U));
        REQUIRE(now[i] >= before[i]);
      }
      before = std::move(now);
    }
    // Until then, other ranks read from this one.
    transport.all_gather({});
  }
  transport.close();
}

TEST_CASE("remote reads: only where windows are asked for") {
  for (const RmaChoice choice : {RmaChoice::off, RmaChoice::automatic}) {
    MpiTransport transport(MPI_COMM_WORLD, {.rma = choice, .rdma_devices = "/nowhere"});
    CHECK(transport.remote_reads() == nullptr);
    transport.close();
  }
}

TEST_CASE("lookups: operations on moved keys go straight to their owner") {
  constexpr std::uint64_t kKeys = 60;
  for (const HomeMapKind home : {HomeMapKind::hash, HomeMapKind::range}) {
    std::uint64_t forwarded_with_look_ups = 0;
    for (const RmaChoice choice : {RmaChoice::on, RmaChoice::off}) {
      Options options = Options::from_environment();
      options.startup_report = false;
      options.rma = choice;
      const std::int32_t domains = lapse::test::domains_of_world(options).domains();
      ParameterServer server(MPI_COMM_WORLD, options);
      const auto table = server.create_table<float>({.keys = kKeys, .home = home});
      const auto keys = key_range(0, kKeys);
      const Rank last(server.ranks() - 1);
      server.run_workers(1, [&](Worker& worker) {
        if (server.rank() == last) worker.localize(table, keys).wait();
        worker.barrier();
        std::vector<float> values(kKeys, 1.0F);
        // A call on many keys does no lookups.
        constexpr std::uint64_t kFew = 6;
        for (std::uint64_t key = 0; key < kKeys; key += kFew) {
          const auto few = std::span(keys).subspan(key, kFew);
          worker.push(table, few, std::span(values).first(kFew)).wait();
        }
        worker.barrier();
        worker.pull(table, keys, values).wait();
        expect(values == std::vector<float>(kKeys, static_cast<float>(worker.ranks())), "sums of all pushes");
      });
      const TableCounters total = server.statistics().table_total(TableId(0));
      server.close();
      INFO("domains " << domains << ", rma " << (choice == RmaChoice::on));
      // With two domains, keys that have moved are at their homes when they are requested.
      CHECK((total.owner_lookups > 0) == (choice == RmaChoice::on && domains > 2));
      // Requests of the home's own domain are forwarded by the rank that serves the key, with and without
      // lookups.
      if (choice == RmaChoice::on) {
        forwarded_with_look_ups = total.forwarded;
        if (domains == last.value() + 1) CHECK(total.forwarded == 0);
      } else if (domains > 2) {
        CHECK(total.forwarded > forwarded_with_look_ups);
      }
    }
  }
}
