// Several servers of a process in concurrent phases, mixed with messages of the application.
#include <mpi.h>

#include <array>
#include <optional>

#include "lapse/ps/attached_worker.hpp"
#include "lapse/ps/mpi_calls.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using lapse::test::expect;
using lapse::test::key_range;

namespace {

constexpr std::uint64_t kKeys = 50;
constexpr int kRounds = 20;
constexpr int kTags = 6;  // of the application; the library uses some of these tags too

// A server, its table, and the values that the table must have.
struct Part {
  explicit Part(MPI_Comm communicator)
      : server(communicator),
        table(server.create_table<std::int64_t>({.name = "same name", .keys = kKeys, .length = 3})) {}

  void begin() {
    server.start_progress(1);
    worker.emplace(server.attach());
  }
  // asynchronous
  void add(int round) {
    const auto keys = key_range(0, kKeys);
    if (round % 3 == 0) (*worker)->localize(table, std::span(keys).subspan((*worker)->index() * 5, 5));
    (*worker)->push(table, keys, std::vector<std::int64_t>(kKeys * 3, 1));
  }
  void check(std::int64_t rounds) {
    (*worker)->barrier();
    std::vector<std::int64_t> values(kKeys * 3);
    (*worker)->pull(table, key_range(0, kKeys), values).wait();
    expect(values == std::vector<std::int64_t>(kKeys * 3, rounds * server.ranks()),
           "the pushes of this server");
    (*worker)->barrier();
  }
  void end() {
    worker.reset();
    server.stop_progress();
  }

  ParameterServer server;
  Table<std::int64_t> table;
  std::optional<AttachedWorker> worker;
};

// Sends the application's own messages to the next rank of a communicator, with each tag, and receives with
// any tag.
class Ring {
 public:
  explicit Ring(MPI_Comm communicator) : communicator_(communicator) {
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(communicator, &rank);
    MPI_Comm_size(communicator, &ranks);
    next_ = (rank + 1) % ranks;
    before_ = (rank + ranks - 1) % ranks;
    rank_ = rank;
  }

  // Requires the MPI lock.
  void begin(int round) {
    for (int tag = 0; tag < kTags; ++tag) {
      sent_[tag] = message(rank_, round, tag);
      MPI_Irecv(&received_[tag], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, communicator_, &requests_[tag]);
      MPI_Isend(&sent_[tag], 1, MPI_INT, next_, tag, communicator_, &requests_[kTags + tag]);
    }
    MPI_Iallreduce(&round, &sum_, 1, MPI_INT, MPI_SUM, communicator_, &requests_.back());
  }
  // Requires the MPI lock. Returns whether all messages have arrived.
  bool test() {
    int done = 0;
    MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE);
    return done != 0;
  }
  // Messages between two ranks arrive in the order in which they were sent.
  void check(int round) {
    int ranks = 0;
    MPI_Comm_size(communicator_, &ranks);
    for (int tag = 0; tag < kTags; ++tag)
      expect(received_[tag] == message(before_, round, tag), "the application's own message");
    expect(sum_ == ranks * round, "the application's own sum");
  }

 private:
  static int message(int rank, int round, int tag) { return (rank * 1000 + round) * 10 + tag; }

  MPI_Comm communicator_;
  int rank_ = 0;
  int next_ = 0;
  int before_ = 0;
  std::array<int, kTags> sent_{};
  std::array<int, kTags> received_{};
  int sum_ = 0;
  std::array<MPI_Request, 2 * kTags + 1> requests_{};
};

}  // namespace

TEST_CASE("Two servers and one on a part of the ranks have phases at once, beside messages with their tags") {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  {
    Part whole(MPI_COMM_WORLD);
    Part same(MPI_COMM_WORLD);
    Part part(half);
    Ring of_world(MPI_COMM_WORLD);
    Ring of_half(half);
    std::int64_t rounds = 0;
    for (int phase = 0; phase < 3; ++phase) {
      for (Part* one : {&whole, &part, &same}) one->begin();
      for (int round = 0; round < kRounds; ++round, ++rounds) {
        {
          const MpiCalls calls = whole.server.mpi_calls();
          of_world.begin(round);
          of_half.begin(round);
        }
        for (Part* one : {&same, &whole, &part}) one->add(round);
        for (Ring* ring : {&of_half, &of_world}) {
          for (bool done = false; !done;) {
            const MpiCalls calls = part.server.mpi_calls();
            done = ring->test();
          }
          ring->check(round);
        }
      }
      for (Part* one : {&part, &same, &whole}) one->check(rounds);
      // Phases end in a different order than they began; between the ends, another server runs a phase.
      part.end();
      whole.end();
      part.begin();
      part.check(rounds);
      same.end();
      part.end();
    }
    same.server.close();
    whole.server.close();
    part.server.close();
  }
  MPI_Comm_free(&half);
}
