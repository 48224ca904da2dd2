// Groups in slots, seated by hand, without a scheduler.
#include <mpi.h>

#include <array>
#include <atomic>
#include <functional>
#include <stdexcept>
#include <vector>

#include "lapse/ps/phase/slot_control.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using lapse::test::expect;

namespace {

// Every rank seats the given groups, each when its part of the last one has ended, without a message.
class Control final : public SlotControl {
 public:
  explicit Control(std::vector<GroupInSlots> groups) : groups_(std::move(groups)) {}

  void begin(Slots& slots, GroupNumber last) override LAPSE_REQUIRES(progress_role) {
    slots_ = &slots;
    first_ = last;
    seat_next();
  }
  void handle_message(Rank, std::span<const std::byte>) override {}
  void handle_end(const GroupPartEnd& end) override LAPSE_REQUIRES(progress_role) {
    ends.push_back(end);
    seat_next();
  }
  void handle_submission(Submission&) override {}

  std::vector<GroupPartEnd> ends;

 private:
  void seat_next() LAPSE_REQUIRES(progress_role) {
    for (; next_ < groups_.size(); ++next_) {
      GroupInSlots group = groups_[next_];
      group.number = first_ + next_ + 1;
      for (const GroupInSlots::Seats& seats : group.seats) {
        if (seats.rank != slots_->rank()) continue;
        ++next_;
        return slots_->seat(group);
      }
    }
    slots_->end(first_ + groups_.size());
  }

  std::vector<GroupInSlots> groups_;
  Slots* slots_ = nullptr;
  GroupNumber first_ = 0;
  std::size_t next_ = 0;
};

void run(ParameterServer& server, std::int32_t slots, Control& control) {
  const std::array<GroupPart, 1> part{{{.workers = slots, .work = {}, .control = &control}}};
  CHECK(server.run_groups(part).empty());
}

GroupInSlots group_on_all(std::int32_t ranks, std::function<void(Worker&)> work,
                          const std::vector<std::uint32_t>& slots = {0}) {
  GroupInSlots group{.number = 0, .seats = {}, .work = std::move(work)};
  for (std::int32_t rank = 0; rank < ranks; ++rank)
    group.seats.push_back({.rank = Rank(rank), .slots = slots});
  return group;
}

}  // namespace

TEST_CASE("Groups in slots follow each other, without a message between the ranks' controls") {
  ParameterServer server(MPI_COMM_WORLD);
  const std::int32_t ranks = server.ranks();
  const auto count = [&](Worker& worker) {
    std::array<std::int64_t, 1> sum{static_cast<std::int64_t>(worker.index())};
    worker.all_reduce(sum);
    const auto workers = static_cast<std::int64_t>(worker.count());
    expect(sum[0] == workers * (workers - 1) / 2, "the workers of the group");
  };
  for (int phase = 0; phase < 3; ++phase) {
    std::vector<GroupInSlots> groups;
    for (int i = 0; i < 50; ++i) {
      if (i % 3 == 0) {
        groups.push_back(group_on_all(ranks, count, {1, 0}));
      } else {
        groups.push_back({.number = 0, .seats = {{.rank = Rank(i % ranks), .slots = {1}}}, .work = count});
      }
    }
    Control control(std::move(groups));
    run(server, 2, control);
    for (const GroupPartEnd& end : control.ends) CHECK_FALSE(end.failure);
    server.run_workers(1, [](Worker& worker) { worker.barrier(); });
  }
  server.close();
}

TEST_CASE("The end of a group in slots says what its workers have counted, and how it has failed") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<double>({.keys = 8, .length = 1});
  const auto push = [&](Worker& worker) {
    const Key own(worker.index());
    worker.localize(table, own).wait();
    worker.push(table, own, std::vector<double>{1.0}).wait();
    worker.barrier();
  };
  const auto fail = [&](Worker& worker) {
    push(worker);
    if (worker.index() == 0) throw std::runtime_error("the first");
    worker.barrier();
  };
  Control control({group_on_all(server.ranks(), push), group_on_all(server.ranks(), fail),
                   group_on_all(server.ranks(), push)});
  run(server, 1, control);
  REQUIRE(control.ends.size() == 3);
  for (const GroupPartEnd& end : control.ends) CHECK(end.counters.at(0).local_pushes == 1);
  CHECK_FALSE(control.ends[0].failure);
  REQUIRE(control.ends[1].failure);
  CHECK(control.ends[1].failure->text() == "the first");
  CHECK(control.ends[1].failure->origin() == Rank(0));
  CHECK_FALSE(control.ends[2].failure);
  server.close();
}

TEST_CASE("What a control throws, and seats in slots that are not free, end the run on every rank") {
  for (const bool wrong_slot : {false, true}) {
    ParameterServer server(MPI_COMM_WORLD);
    const std::int32_t ranks = server.ranks();
    GroupInSlots group = group_on_all(ranks, [](Worker& worker) { worker.barrier(); });
    // The last rank has one slot alone; a group without seats there is refused, too.
    if (wrong_slot) group.seats.back().slots = {7};
    struct Throws final : SlotControl {
      void begin(Slots&, GroupNumber) override { throw std::runtime_error("no plan"); }
      void handle_message(Rank, std::span<const std::byte>) override {}
      void handle_end(const GroupPartEnd&) override {}
      void handle_submission(Submission&) override {}
    } throws;
    Control control({group});
    const bool is_last = server.rank() == Rank(ranks - 1);
    const std::array<GroupPart, 1> part{
        {{.workers = 1,
          .work = {},
          .control = is_last && !wrong_slot ? static_cast<SlotControl*>(&throws) : &control}}};
    try {
      server.run_groups(part);
      FAIL("expected PeerFailed");
    } catch (const PeerFailed& failure) {
      CHECK(failure.origin() == Rank(ranks - 1));
      const std::string text = failure.what();
      CHECK(text.find(wrong_slot ? "slot 7" : "no plan") != std::string::npos);
    }
    CHECK_THROWS_AS(server.run_workers(1, [](Worker&) {}), PeerFailed);
    server.close();
  }
}
