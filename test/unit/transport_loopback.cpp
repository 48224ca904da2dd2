// The single-threaded loopback network: what can be delivered when, and in which order.
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/transport/loopback/network.hpp"
#include "lapse/transport/rma/remote_reads.hpp"
#include "test/support/catch.hpp"
#include "test/unit/transport_traffic.hpp"

using namespace lapse;
using Lane = Transport::Lane;

namespace {

void send_text(Transport& transport, std::int32_t to, const std::string& text, Lane lane = Lane::ordered) {
  PacketBuffer packet = transport.acquire_buffer();
  packet.append(std::as_bytes(std::span(text)));
  transport.send(Rank{to}, std::move(packet), lane);
}

// Appends "<from>:<text> " for each packet.
struct Record {
  std::string text;
  Transport::Handler handler = [this](Rank from, std::span<const std::byte> packet) {
    text += std::to_string(from.value()) + ":" +
            std::string(reinterpret_cast<const char*>(packet.data()), packet.size()) + " ";
  };
};

}  // namespace

TEST_CASE("the oldest packet of each pair can be delivered, and nothing else") {
  LoopbackNetwork network(3, false);
  send_text(network.endpoint(Rank{0}), 2, "a");
  send_text(network.endpoint(Rank{0}), 2, "b", Lane::bulk);
  send_text(network.endpoint(Rank{1}), 2, "c");
  send_text(network.endpoint(Rank{2}), 2, "d");
  const auto choices = network.deliverable();
  REQUIRE(choices.size() == 3);
  REQUIRE(choices[0] == LoopbackNetwork::Choice{Rank{0}, Rank{2}, Lane::ordered, 2});
  REQUIRE(choices[1] == LoopbackNetwork::Choice{Rank{1}, Rank{2}, Lane::ordered, 1});
  REQUIRE(choices[2] == LoopbackNetwork::Choice{Rank{2}, Rank{2}, Lane::ordered, 1});

  Record record;
  network.deliver({Rank{2}, Rank{2}, Lane::ordered, 1}, record.handler);
  network.deliver({Rank{0}, Rank{2}, Lane::ordered, 1}, record.handler);
  network.deliver({Rank{1}, Rank{2}, Lane::ordered, 1}, record.handler);
  network.deliver({Rank{0}, Rank{2}, Lane::ordered, 1}, record.handler);
  REQUIRE(record.text == "2:d 0:a 1:c 0:b ");
  REQUIRE(network.deliverable().empty());
  REQUIRE_THROWS_AS(network.deliver({Rank{0}, Rank{2}, Lane::ordered, 1}, record.handler), ProtocolError);
}

TEST_CASE("only the oldest ordered packet can be delivered") {
  LoopbackNetwork network(2, true);
  send_text(network.endpoint(Rank{0}), 1, "a");
  send_text(network.endpoint(Rank{0}), 1, "b");
  Record record;
  REQUIRE_THROWS_AS(network.deliver({Rank{0}, Rank{1}, Lane::ordered, 2}, record.handler, 1), ProtocolError);
  REQUIRE(record.text.empty());
}

TEST_CASE("any packet of a separate bulk lane can be delivered") {
  LoopbackNetwork network(2, true);
  Transport& sender = network.endpoint(Rank{0});
  REQUIRE(sender.has_separate_bulk_lane());
  send_text(sender, 1, "ordered");
  for (const char* text : {"x", "y", "z"}) send_text(sender, 1, text, Lane::bulk);
  const auto choices = network.deliverable();
  REQUIRE(choices.size() == 2);
  REQUIRE(choices[1] == LoopbackNetwork::Choice{Rank{0}, Rank{1}, Lane::bulk, 3});

  Record record;
  const LoopbackNetwork::Choice bulk = choices[1];
  network.deliver(bulk, record.handler, 2);
  network.deliver(bulk, record.handler, 0);
  network.deliver(bulk, record.handler);
  REQUIRE(record.text == "0:z 0:x 0:y ");
  REQUIRE_THROWS_AS(network.deliver(bulk, record.handler), ProtocolError);
}

TEST_CASE("poll delivers up to its limit, sender by sender, also what handlers send") {
  LoopbackNetwork network(2, false);
  Transport& receiver = network.endpoint(Rank{1});
  send_text(receiver, 1, "self");
  send_text(network.endpoint(Rank{0}), 1, "a");
  send_text(network.endpoint(Rank{0}), 1, "b");
  REQUIRE_FALSE(receiver.idle());
  Record record;
  REQUIRE(receiver.poll(record.handler, 2) == 2);
  REQUIRE(record.text == "0:a 0:b ");
  int replies = 0;
  const Transport::Handler reply = [&](Rank, std::span<const std::byte>) {
    if (++replies < 4) send_text(receiver, 1, "again");
  };
  REQUIRE(receiver.poll(reply, 100) == 4);
  REQUIRE(receiver.idle());
  REQUIRE(receiver.poll(record.handler, 100) == 0);
}

TEST_CASE("random traffic over the loopback network is complete and in order") {
  const std::int32_t ranks = 3;
  LoopbackNetwork network(ranks, false);
  std::vector<test::Traffic> traffic;
  traffic.reserve(ranks);
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    traffic.emplace_back(network.endpoint(Rank{rank}), std::vector<std::size_t>{0, 1, 100, 5000}, 200, 7);
  }
  for (bool done = false; !done;) {
    done = true;
    for (test::Traffic& part : traffic) done = part.step() && done;
  }
  for (std::int32_t rank = 0; rank < ranks; ++rank) network.endpoint(Rank{rank}).close();
}

TEST_CASE("misuse of the loopback network is a typed error") {
  LoopbackNetwork network(2, false);
  Transport& transport = network.endpoint(Rank{0});
  REQUIRE_THROWS_AS(LoopbackNetwork(0, false), UsageError);
  REQUIRE_THROWS_AS(network.endpoint(Rank{2}), UsageError);
  REQUIRE_THROWS_AS(network.endpoint(Rank{-1}), UsageError);
  REQUIRE_THROWS_AS(send_text(transport, 2, "x"), UsageError);
  REQUIRE_THROWS_AS(transport.all_gather({}), ProtocolError);
  send_text(transport, 0, "left behind");
  REQUIRE_THROWS_AS(transport.close(), ProtocolError);
  REQUIRE_THROWS_AS(send_text(transport, 1, "x"), ClosedError);
  REQUIRE_THROWS_AS(transport.close(), ClosedError);
}

TEST_CASE("one rank gathers its own bytes") {
  LoopbackNetwork network(1, false);
  const std::vector<std::byte> mine{std::byte{1}, std::byte{2}};
  const auto gathered = network.endpoint(Rank{0}).all_gather(mine);
  REQUIRE(gathered == std::vector<std::vector<std::byte>>{mine});
}

TEST_CASE("a remote read copies once, and is delivered later") {
  LoopbackNetwork network(3, false);
  Transport& reader = network.endpoint(Rank{0});
  std::vector<std::uint64_t> words{10, 11};
  std::vector<std::pair<std::uint64_t, std::uint64_t>> seen;
  reader.remote_reads()->set_handler([&](std::span<const RemoteReads::Finished> reads) {
    for (const RemoteReads::Finished& read : reads) seen.emplace_back(read.tag, read.value);
  });
  const std::uint32_t number =
      network.endpoint(Rank{2}).remote_reads()->expose(std::as_bytes(std::span(words)));
  for (const std::uint64_t tag : {0U, 1U}) reader.remote_reads()->begin(Rank{2}, number, 8, tag);
  REQUIRE(network.reads_in_flight(Rank{0}) == 2);
  REQUIRE_FALSE(reader.idle());
  REQUIRE_FALSE(network.advance_read(Rank{0}, 0));
  words[1] = 12;
  REQUIRE_FALSE(network.advance_read(Rank{0}, 1));
  words[1] = 13;
  REQUIRE(network.advance_read(Rank{0}, 1));
  REQUIRE(network.advance_read(Rank{0}, 0));
  using Seen = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  REQUIRE(seen == Seen{{1, 12}, {0, 11}});
  REQUIRE(reader.idle());

  // poll takes all steps, and counts them as one packet.
  seen.clear();
  for (const std::uint64_t tag : {0U, 1U}) reader.remote_reads()->begin(Rank{2}, number, 0, tag);
  const Record record;
  REQUIRE(reader.poll(record.handler, 1) == 1);
  REQUIRE(seen == Seen{{0, 10}, {1, 10}});
  REQUIRE(reader.poll(record.handler, 1) == 0);
  REQUIRE_THROWS_AS(reader.remote_reads()->begin(Rank{2}, number, 16, 0), UsageError);
  REQUIRE_THROWS_AS(reader.remote_reads()->begin(Rank{2}, number, 4, 0), UsageError);
  reader.remote_reads()->begin(Rank{2}, number, 0, 0);
  REQUIRE_THROWS_AS(reader.close(), ProtocolError);
}
