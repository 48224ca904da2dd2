#include "lapse/ps/agreement/agreement.hpp"

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/transport/loopback/threaded_network.hpp"
#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"

using lapse::Agreement;
using lapse::Rank;
using lapse::test::contains;

namespace {

// What each rank received from `call`: the strings, joined, or the type and message of the error.
std::vector<std::string> on_all_ranks(
    std::int32_t ranks, const std::function<std::vector<std::string>(Agreement&, std::int32_t)>& call) {
  lapse::ThreadedLoopback network(ranks);
  std::vector<std::string> results(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      Agreement agreement(network.endpoint(Rank(rank)));
      std::string& result = results[static_cast<std::size_t>(rank)];
      try {
        for (const std::string& one : call(agreement, rank)) result += one + ";";
      } catch (const lapse::PeerFailed& error) {
        result = "PeerFailed " + std::to_string(error.origin().value()) + " " + error.text();
      } catch (const lapse::CollectiveMismatch& error) {
        result = std::string("CollectiveMismatch ") + error.what();
      } catch (const lapse::OutOfMemory& error) {
        result = std::string("OutOfMemory ") + error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return results;
}

}  // namespace

TEST_CASE("Every rank learns what every rank said, in rank order, call after call") {
  for (std::int32_t ranks = 1; ranks <= 4; ++ranks) {
    const auto results = on_all_ranks(ranks, [](Agreement& agreement, std::int32_t rank) {
      agreement.exchange("first", std::to_string(100 + rank));
      return agreement.exchange("second", std::string(static_cast<std::size_t>(rank), 'x') + '\0');
    });
    std::string expected;
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      expected += std::string(static_cast<std::size_t>(rank), 'x') + '\0' + ";";
    }
    for (const std::string& result : results) CHECK(result == expected);
  }
}

TEST_CASE("The problem of one rank ends the call on the others; that rank throws its own error") {
  const auto results = on_all_ranks(3, [](Agreement& agreement, std::int32_t rank) {
    return agreement.exchange("call", [rank] {
      if (rank == 1) throw lapse::OutOfMemory("no room");
      return std::string("mine");
    });
  });
  CHECK(results[0] == "PeerFailed 1 no room");
  CHECK(results[1] == "OutOfMemory no room");
  CHECK(results[2] == "PeerFailed 1 no room");
}

TEST_CASE("Different calls are a mismatch on every rank, which names both") {
  const auto results = on_all_ranks(3, [](Agreement& agreement, std::int32_t rank) {
    return agreement.exchange(rank == 2 ? "close" : "create_table", std::string());
  });
  for (const std::string& result : results) {
    CHECK(contains(result, "CollectiveMismatch"));
    CHECK(contains(result, "rank 0: create_table"));
    CHECK(contains(result, "rank 2: close"));
  }
}

TEST_CASE("A value that one rank gives differently is an error on every rank, with the difference") {
  const auto results = on_all_ranks(4, [](Agreement& agreement, std::int32_t rank) {
    const auto all = agreement.exchange("call", std::vector<std::string>{rank < 2 ? "same" : "other"});
    std::string text;
    try {
      agreement.require_equal<lapse::ConfigurationError>(
          all, [](const auto& first, const auto& other, std::size_t other_rank) {
            return first[0] + " against " + other[0] + " on rank " + std::to_string(other_rank);
          });
    } catch (const lapse::ConfigurationError& error) {
      text = error.what();
    }
    return std::vector<std::string>{text, agreement.failed_everywhere() ? "everywhere" : ""};
  });
  for (const std::string& result : results) CHECK(result == "same against other on rank 2;everywhere;");
}
