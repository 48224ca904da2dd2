// The progress engine over a transport that throws.
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/transport/engine/progress_engine.hpp"
#include "lapse/transport/loopback/network.hpp"
#include "test/support/catch.hpp"
#include "test/support/simulation_borrowed_transport.hpp"

using namespace lapse;

namespace {

class Client final : public EngineClient {
 public:
  void handle_packet(Rank, std::span<const std::byte>) override { ++packets; }
  void end_turn() override { ++turns_ended; }
  void handle_failure(std::exception_ptr failure) noexcept override {
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& error) {
      failures.emplace_back(error.what());
    }
  }

  int packets = 0;
  int turns_ended = 0;
  std::vector<std::string> failures;
};

// Its first poll throws.
template <class Exception>
class ThrowingTransport final : public test::BorrowedTransport {
 public:
  ThrowingTransport(Transport& transport, Exception exception)
      : BorrowedTransport(transport), exception_(std::move(exception)) {}
  std::size_t poll(const Handler& handler, std::size_t limit) override {
    if (std::exchange(throws_, false)) throw exception_;
    return BorrowedTransport::poll(handler, limit);
  }
  [[noreturn]] void abort(const std::string& reason) override { throw std::logic_error(reason); }

 private:
  Exception exception_;
  bool throws_ = true;
};

template <class Exception>
struct Engine {
  explicit Engine(Exception exception) : transport(network.endpoint(Rank(0)), std::move(exception)) {}
  void turn() {
    engine.exclusively([this]() LAPSE_REQUIRES(progress_role) { engine.turn(3); });
  }

  LoopbackNetwork network{1, false};
  ThrowingTransport<Exception> transport;
  Client client;
  ProgressEngine engine{transport, client, {}};
};

}  // namespace

TEST_CASE(
    "That there is no memory for a packet is reported as a failure, and the packets after it are handled") {
  Engine engine(OutOfMemory("no memory for a packet"));
  Transport& sender = engine.network.endpoint(Rank(0));
  PacketBuffer packet = sender.acquire_buffer();
  *packet.extend(1) = std::byte{1};
  sender.send(Rank(0), std::move(packet), Transport::Lane::ordered);
  CHECK_NOTHROW(engine.turn());
  CHECK(engine.client.failures == std::vector<std::string>{"no memory for a packet"});
  CHECK(engine.client.packets == 1);
  CHECK(engine.client.turns_ended == 2);  // The report is sent before the next poll.
}

TEST_CASE("What a transport throws ends the job, whatever its type") {
  Engine engine(7);
  CHECK_THROWS_WITH(engine.turn(), "communication failed: unknown exception");
}
