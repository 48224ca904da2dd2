// How a rank handles the answer to a lease request that it has sent to its neighbour.
#include <cstring>
#include <memory>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/transport/loopback/network.hpp"
#include "test/support/catch.hpp"
#include "test/unit/protocol_fuzz_rank.hpp"

using namespace lapse;
using test::FuzzRank;
using test::FuzzSetup;

namespace {

// Ranks 0 and 1 share the memory of table 0. A worker of rank 0 has requested a lease of a key that rank 1
// serves and owns.
class Request {
 public:
  Request() {
    const FuzzSetup setup{.domain_ranks = 2};
    for (std::int32_t rank = 0; rank < test::kRanks; ++rank)
      ranks_.push_back(std::make_unique<FuzzRank>(network_, Rank(rank), setup));
    progress_role.assert_held();  // One thread does everything.
    while (!table(1).serves(key_) || !has_main_copy(table(1).store().word(key_).role()))
      key_ = Key(key_.value() + 1);
    neighbour_has_leased(true);  // so that rank 0 must ask
    request().items = {{&table(0), key_}};
    request().granted = 0;
    request().copies.clear();
    request().releasing = false;
    request().finished = false;
    ranks_[0]->protocol().leases().handle_submission(request());
    ranks_[0]->protocol().end_turn();
    neighbour_has_leased(false);
  }

  LeaseRequest& request() { return ranks_[0]->protocol().registry().workers()[0]->lease_request(); }
  const LeaseRequest::Item& item() { return request().items[0]; }
  std::size_t content_bytes() { return padded_bytes(table(0).content_bytes(key_)); }
  void neighbour_has_leased(bool leased) {
    CHECK((leased ? table(1).store().grant_lease(key_) : table(1).store().release_lease(key_)));
  }
  void grant(Rank from, std::size_t content_bytes) {
    FrameHeader header;
    header.kind = static_cast<std::uint16_t>(FrameKind::lease_grant);
    header.count = 1;
    header.record_bytes = static_cast<std::uint32_t>(sizeof(std::uint64_t) + content_bytes);
    std::vector<std::byte> packet(sizeof header + header.record_bytes);
    std::memcpy(packet.data(), &header, sizeof header);
    const std::uint64_t number = key_.value();
    std::memcpy(packet.data() + sizeof header, &number, sizeof number);
    progress_role.assert_held();
    ranks_[0]->protocol().handle_packet(from, packet);
  }

 private:
  TableShard& table(std::size_t rank) { return *ranks_[rank]->protocol().registry().tables()[0]; }

  LoopbackNetwork network_{test::kRanks, false, std::size_t{1} << 22};
  std::vector<std::unique_ptr<FuzzRank>> ranks_;
  Key key_{0};
};

}  // namespace

TEST_CASE("A lease of a key that its rank has leased is granted") {
  Request lease;
  lease.neighbour_has_leased(true);
  lease.grant(Rank(1), 0);
  CHECK(lease.request().finished);
  CHECK(lease.request().content(lease.item()) != nullptr);
}

TEST_CASE("A grant of a key that is not leased is refused") {
  Request lease;
  CHECK_THROWS_AS(lease.grant(Rank(1), 0), ProtocolError);
  CHECK_FALSE(lease.request().finished);
}

TEST_CASE("A grant with the content of a key that this rank can address is refused") {
  Request lease;
  lease.neighbour_has_leased(true);
  CHECK_THROWS_AS(lease.grant(Rank(1), lease.content_bytes()), ProtocolError);
}

TEST_CASE("A key whose lease has ended has no content for its holder") {
  Request lease;
  lease.neighbour_has_leased(true);
  lease.grant(Rank(1), 0);
  lease.neighbour_has_leased(false);
  CHECK_THROWS_AS(lease.request().content(lease.item()), ProtocolError);
}
