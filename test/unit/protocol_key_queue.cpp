#include "lapse/protocol/table/key_queue.hpp"
#include "lapse/protocol/worker/lease_request.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "test/support/catch.hpp"

using lapse::Domain;
using lapse::Key;
using lapse::KeyQueue;
using lapse::LeaseAsker;
using lapse::LeaseRequest;
using lapse::OperationKind;
using lapse::OperationPart;
using lapse::Rank;

namespace {

const KeyQueue::Clock::time_point kQueueNow{std::chrono::seconds(5)};

OperationPart part(OperationKind kind, std::uint64_t key, const std::byte* value = nullptr) {
  OperationPart part;
  part.kind = kind;
  part.origin = Rank(2);
  part.operation = 17;
  part.key = Key(key);
  part.item = 4;
  part.value = value;
  return part;
}

// Records the calls of a queue, and copies the first bytes of updates.
struct QueueRecorder {
  struct Operation {
    OperationPart part;
    std::vector<std::byte> update;
  };

  explicit QueueRecorder(std::size_t bytes = 0) : update_bytes(bytes) {}

  void waited(KeyQueue::Clock::time_point since) { times.push_back(since); }
  void execute(const OperationPart& part) { add(executed, part); }
  void forward(const OperationPart& part) { add(forwarded, part); }
  void take(const KeyQueue::CopyMessage& message) { messages.push_back(message); }
  void forward(const KeyQueue::CopyMessage& message) { messages.push_back(message); }
  void transfer(const KeyQueue::Instruct& instruct) { instructs.push_back(instruct); }
  void grant(const LeaseAsker& asker) { granted.push_back(asker); }
  void ask_again(const LeaseAsker& asker) { asking.push_back(asker); }

  void add(std::vector<Operation>& operations, const OperationPart& part) {
    const bool has_update = part.value != nullptr;
    operations.push_back({part, has_update ? std::vector<std::byte>(part.value, part.value + update_bytes)
                                           : std::vector<std::byte>()});
    if (during) during();
  }

  std::vector<KeyQueue::CopyMessage> messages;
  std::size_t update_bytes;
  std::function<void()> during;  // called in the middle of draining
  std::vector<KeyQueue::Clock::time_point> times;
  std::vector<Operation> executed;
  std::vector<Operation> forwarded;
  std::vector<KeyQueue::Instruct> instructs;
  std::vector<LeaseAsker> granted;
  std::vector<LeaseAsker> asking;
};

}  // namespace

TEST_CASE("Operations and an INSTRUCT queue in the order in which they came, with copies of the updates") {
  KeyQueue queue;
  std::vector<std::byte> update(12, std::byte{1});
  queue.push(part(OperationKind::push, 1, update.data()), update.size(), kQueueNow);
  std::fill(update.begin(), update.end(), std::byte{2});
  queue.push(part(OperationKind::pull, 2), update.size(), kQueueNow);
  queue.push(part(OperationKind::set, 3, update.data()), update.size(), kQueueNow);
  CHECK_FALSE(queue.holds_instruct());
  queue.push(KeyQueue::Instruct{Domain(7), 41}, kQueueNow + std::chrono::seconds(1));
  update.clear();
  REQUIRE(queue.size() == 4);
  CHECK(queue.holds_instruct());

  QueueRecorder recorder(12);
  CHECK(queue.drain(recorder) == KeyQueue::End::left);
  REQUIRE(recorder.executed.size() == 3);
  CHECK(recorder.executed[0].part.kind == OperationKind::push);
  CHECK(recorder.executed[0].part.origin == Rank(2));
  CHECK(recorder.executed[0].part.operation == 17);
  CHECK(recorder.executed[0].part.item == 4);
  CHECK(recorder.executed[0].update == std::vector<std::byte>(12, std::byte{1}));
  CHECK(recorder.executed[1].part.kind == OperationKind::pull);
  CHECK(recorder.executed[1].part.key == Key(2));
  CHECK(recorder.executed[1].part.value == nullptr);
  CHECK(recorder.executed[2].update == std::vector<std::byte>(12, std::byte{2}));
  REQUIRE(recorder.instructs.size() == 1);
  CHECK(recorder.instructs[0].next == Domain(7));
  CHECK(recorder.instructs[0].relocations == 41);
  CHECK(recorder.times[2] == kQueueNow);
  CHECK(recorder.times[3] == kQueueNow + std::chrono::seconds(1));
  CHECK(queue.empty());
  CHECK_FALSE(queue.holds_instruct());
}

TEST_CASE("What came behind an INSTRUCT goes on, in order, and lease requests ask again") {
  KeyQueue queue;
  const std::vector<std::byte> update(4, std::byte{3});
  LeaseRequest request;
  queue.push(KeyQueue::Instruct{Domain(7), 1}, kQueueNow);
  queue.push(part(OperationKind::push, 1, update.data()), 4, kQueueNow);
  queue.push(LeaseAsker{&request, {}, 0}, kQueueNow);
  queue.push(part(OperationKind::pull, 1), 4, kQueueNow);
  QueueRecorder recorder(4);
  CHECK(queue.drain(recorder) == KeyQueue::End::left);
  CHECK(recorder.executed.empty());
  REQUIRE(recorder.forwarded.size() == 2);
  CHECK(recorder.forwarded[0].update == update);
  CHECK(recorder.forwarded[1].part.kind == OperationKind::pull);
  REQUIRE(recorder.asking.size() == 1);
  CHECK(recorder.asking[0].local == &request);
  CHECK(recorder.granted.empty());
  CHECK(queue.empty());
}

TEST_CASE("A lease ends draining; what queued behind it stays with its updates") {
  KeyQueue queue;
  const std::vector<std::byte> first(4, std::byte{1});
  const std::vector<std::byte> second(4, std::byte{2});
  LeaseRequest request;
  queue.push(part(OperationKind::push, 1, first.data()), 4, kQueueNow);
  queue.push(LeaseAsker{&request, {}, 0}, kQueueNow);
  queue.push(part(OperationKind::push, 2, second.data()), 4, kQueueNow);
  QueueRecorder recorder(4);
  CHECK(queue.drain(recorder) == KeyQueue::End::leased);
  REQUIRE(recorder.granted.size() == 1);
  CHECK(recorder.granted[0].local == &request);
  CHECK(recorder.executed.size() == 1);
  REQUIRE(queue.size() == 1);
  CHECK(queue.drain(recorder) == KeyQueue::End::open);
  REQUIRE(recorder.executed.size() == 2);
  CHECK(recorder.executed[1].part.key == Key(2));
  CHECK(recorder.executed[1].update == second);
  CHECK(queue.empty());
  CHECK(queue.update_bytes() == 0);
}

TEST_CASE("What is pushed while the queue is drained is drained too") {
  KeyQueue queue;
  std::vector<std::byte> update(64, std::byte{0});
  queue.push(part(OperationKind::push, 0, update.data()), update.size(), kQueueNow);
  QueueRecorder recorder(update.size());
  recorder.during = [&] {
    const std::size_t done = recorder.executed.size();
    if (done >= 100) return;
    std::fill(update.begin(), update.end(), static_cast<std::byte>(done));
    queue.push(part(OperationKind::push, done, update.data()), update.size(), kQueueNow);
  };
  CHECK(queue.drain(recorder) == KeyQueue::End::open);
  REQUIRE(recorder.executed.size() == 100);
  for (std::size_t i = 0; i < 100; ++i) {
    CHECK(recorder.executed[i].part.key == Key(i));
    CHECK(recorder.executed[i].update == std::vector<std::byte>(64, static_cast<std::byte>(i)));
  }
}

TEST_CASE("Updates in a queue are aligned for any element type, whatever stands before them") {
  KeyQueue queue;
  const std::vector<std::byte> odd(3, std::byte{1});
  const std::vector<std::byte> even(8, std::byte{2});
  for (int i = 0; i < 5; ++i) {
    queue.push(part(OperationKind::call, 1, odd.data()), odd.size(), kQueueNow);
    queue.push(part(OperationKind::push, 1, even.data()), even.size(), kQueueNow);
  }
  QueueRecorder recorder;
  queue.drain(recorder);
  REQUIRE(recorder.executed.size() == 10);
  for (const QueueRecorder::Operation& operation : recorder.executed) {
    CHECK(reinterpret_cast<std::uintptr_t>(operation.part.value) % 8 == 0);
  }
}

TEST_CASE("A queue that is never empty does not keep the updates of what has left it") {
  KeyQueue queue;
  std::vector<std::byte> update(64);
  LeaseRequest request;
  int next = 0;
  for (int i = 0; i < 10'000; ++i) {
    update[0] = static_cast<std::byte>(i % 251);
    queue.push(part(OperationKind::push, 1, update.data()), update.size(), kQueueNow);
    queue.push(LeaseAsker{&request, {}, 0}, kQueueNow);
    if (queue.size() > 20) {
      QueueRecorder recorder(update.size());
      REQUIRE(queue.drain(recorder) == KeyQueue::End::leased);
      REQUIRE(recorder.executed.size() == 1);
      REQUIRE(recorder.executed[0].update[0] == static_cast<std::byte>(next++ % 251));
    }
    REQUIRE(queue.update_bytes() <= 30 * update.size());
  }
}

TEST_CASE("Where no value comes, operations are forwarded and lease requests ask again, in order") {
  KeyQueue queue;
  const std::vector<std::byte> update(8, std::byte{3});
  LeaseRequest request;
  queue.push(part(OperationKind::push, 1, update.data()), update.size(), kQueueNow);
  queue.push(LeaseAsker{&request, Rank(0), 0}, kQueueNow);
  queue.push(part(OperationKind::pull, 2), 0, kQueueNow);
  QueueRecorder recorder(update.size());
  queue.send_away(recorder);
  CHECK(queue.empty());
  CHECK(queue.update_bytes() == 0);
  CHECK(recorder.executed.empty());
  REQUIRE(recorder.forwarded.size() == 2);
  CHECK(recorder.forwarded[0].part.key == Key(1));
  CHECK(recorder.forwarded[0].update == update);
  CHECK(recorder.forwarded[1].part.key == Key(2));
  REQUIRE(recorder.asking.size() == 1);
  CHECK(recorder.asking[0].local == &request);
}
