// Joint calls of the workers of one rank, with rare interleavings of their steps.
#include "lapse/ps/access/worker_group.hpp"

#include "lapse/core/error.hpp"
#include "lapse/ps/access/reduction.hpp"
#include "lapse/transport/loopback/network.hpp"
#include "test/support/catch.hpp"

using namespace lapse;

namespace {

// One rank with two workers. The calling thread acts as each of them alternately.
struct TwoWorkers {
  LoopbackNetwork network{1, false};
  Router router;
  RankProtocol protocol{network.endpoint(Rank(0)), router};
  ProgressEngine engine{network.endpoint(Rank(0)), protocol, {}};
  WorkerGroup group{protocol, engine, protocol.groups().all()};

  TwoWorkers() {
    protocol.registry().prepare_workers(2, 0);
    group.start(2, {Rank(0)});
  }
};

Bytes barrier(std::uint64_t worker) {
  return make_contribution({.kind = ReductionHeader::Kind::barrier, .worker = worker}, {});
}

}  // namespace

TEST_CASE(
    "A worker that is held up in a call takes no return of the other, behind the call, for a mismatch") {
  TwoWorkers two;
  const WorkerGroup::Arrival held_up = two.group.arrive(0, barrier(0));
  const std::uint64_t round = two.group.contribute(1, barrier(1));
  REQUIRE(two.group.completed(round));
  two.group.leave(1);
  CHECK_NOTHROW(two.group.complete(0, held_up));
  CHECK(two.group.completed(held_up.round));
  CHECK_NOTHROW(two.group.leave(0));
  CHECK_FALSE(two.protocol.failure().raised());
}

TEST_CASE("A worker that calls when the other has returned learns it, in either order") {
  TwoWorkers before;
  before.group.leave(1);
  CHECK_THROWS_AS(before.group.contribute(0, barrier(0)), CollectiveMismatch);
  TwoWorkers after;
  CHECK(after.group.contribute(0, barrier(0)) == 1);
  CHECK_THROWS_AS(after.group.leave(1), CollectiveMismatch);
}
