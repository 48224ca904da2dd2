// A call on many keys that lets the engine handle messages while it waits for a latch.
#include "lapse/ps/access/direct_call.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "test/support/catch.hpp"
#include "test/unit/protocol_ranks.hpp"

using namespace lapse;

namespace {

using Values = std::vector<std::int64_t>;

// A call of the worker of rank 0, handled when the test says so.
class WaitingCall {
 public:
  WaitingCall(test::WaitingRanks& ranks, const std::vector<Key>& keys, const AccessRequest& request)
      : ranks_(ranks),
        local_(ranks.table(0), keys, request, ranks.worker(0), {done_, on_copies_}, Rank(0), 0),
        builder_(ranks.worker(0), ranks.table(0), request, ranks.protocol(0).access(), keys.size()),
        call_(local_, builder_, ranks.protocol(0).access(), Rank(0)) {
    local_.expect_no_arrivals(false);
    operation = &builder_.state();
  }

  // Makes one step of the engine. Returns whether the call is complete then.
  bool handle() {
    call_.handler->handle_submission(call_);
    ranks_.protocol(0).end_turn();
    return call_.is_complete();
  }
  void carry_out_leading() { local_.carry_out_leading(); }

  OperationState* operation = nullptr;

 private:
  test::WaitingRanks& ranks_;
  std::uint64_t done_ = 0;
  std::uint64_t on_copies_ = 0;
  LocalAccess local_;
  OperationBuilder builder_;
  DirectCall call_;
};

}  // namespace

TEST_CASE("A key that a call names again after it has waited for a latch keeps its order, though it came") {
  test::WaitingRanks ranks;
  constexpr Key kLatched(0);
  constexpr Key kMoving(8);  // its home is rank 2
  // Rank 0 has a cached location on rank 1, which the key has left.
  const auto localize = [&](std::size_t rank) { ranks.submit(rank, OperationKind::localize, {kMoving}); };
  localize(1);
  ranks.deliver_all();
  Values pulled;
  ranks.submit(0, OperationKind::pull, {kMoving}, &pulled);
  ranks.deliver_all();
  localize(2);
  ranks.deliver_all();
  REQUIRE(ranks.table(0).store().word(kMoving).hint() == Domain(1));

  const std::vector<Key> keys{kMoving, kLatched, kMoving};
  const Values values{1, 5, 2};
  const AccessRequest request{.operation = {.kind = OperationKind::set},
                              .updates = reinterpret_cast<const std::byte*>(values.data())};
  WaitingCall call(ranks, keys, request);
  bool is_complete = true;
  REQUIRE(ranks.table(0).store().update(kLatched, [&](std::byte*) { is_complete = call.handle(); }));
  REQUIRE_FALSE(is_complete);
  // The first set is late; meanwhile another worker of rank 0 localizes the key.
  localize(0);
  ranks.deliver_all_but(Rank(0), Rank(1));
  REQUIRE(has_main_copy(ranks.table(0).store().word(kMoving).role()));
  call.carry_out_leading();
  REQUIRE(call.handle());
  ranks.deliver_all();
  CHECK(call.operation->done());
  std::int64_t value = 0;
  REQUIRE(ranks.table(0).store().read(kMoving, reinterpret_cast<std::byte*>(&value)));
  CHECK(value == 2);
  REQUIRE(ranks.table(0).store().read(kLatched, reinterpret_cast<std::byte*>(&value)));
  CHECK(value == 5);
}
