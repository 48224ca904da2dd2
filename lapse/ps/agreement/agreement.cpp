#include "lapse/ps/agreement/agreement.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <new>
#include <span>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/ps/stalls/stall_reports.hpp"

namespace lapse {

// The contribution of one rank to an exchange.
struct Agreement::Statement {
  std::string call;
  std::string archive = {};
  bool failed = false;
  std::string problem = {};

  template <class Archive>
  void serialize(Archive& to, unsigned) {
    to& call& archive& failed& problem;
  }
};

void Agreement::fill(Statement& mine, const std::function<std::string()>& make,
                     std::exception_ptr& failure) noexcept {
  const auto fail = [&](const char* problem) {
    failure = std::current_exception();
    mine.failed = true;
    try {
      mine.problem = problem;
    } catch (const std::bad_alloc&) {
      // Reports the failure without a message.
    }
  };
  try {
    mine.archive = make();
  } catch (const std::exception& error) {
    fail(error.what());
  } catch (...) {
    fail("unknown exception");
  }
}

std::vector<Agreement::Statement> Agreement::gather(const Statement& mine) {
  const std::string bytes = to_archive(mine);
  CallWatch watch(reports_, mine.call);
  const auto gathered = transport_.all_gather(std::as_bytes(std::span(bytes)), &watch);
  failed_everywhere_ = true;  // unless all archives are there
  std::vector<Statement> statements;
  for (const auto& one : gathered) {
    statements.push_back(from_archive<Statement>({reinterpret_cast<const char*>(one.data()), one.size()}));
    if (statements.back().call != statements[0].call) {
      throw CollectiveMismatch(fmt::format("ranks made different collective calls: rank 0: {}; rank {}: {}",
                                           statements[0].call, statements.size() - 1,
                                           statements.back().call));
    }
  }
  return statements;
}

std::vector<std::string> Agreement::exchange_archives(std::string_view call,
                                                      const std::function<std::string()>& make) {
  Statement mine{.call = std::string(call)};
  std::exception_ptr failure;
  fill(mine, make, failure);
  std::vector<Statement> statements = gather(mine);
  if (failure) std::rethrow_exception(failure);
  std::vector<std::string> archives;
  for (std::size_t rank = 0; rank < statements.size(); ++rank) {
    if (statements[rank].failed)
      throw PeerFailed(Rank(static_cast<std::int32_t>(rank)), statements[rank].problem);
    archives.push_back(std::move(statements[rank].archive));
  }
  failed_everywhere_ = false;
  return archives;
}

}  // namespace lapse
