#include "lapse/ps/agreement.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <exception>
#include <span>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/ps/stall_reports.hpp"

namespace lapse {

namespace {

// What a rank brings into an exchange.
struct Statement {
  std::string call;
  std::string archive = {};
  bool failed = false;
  std::string problem = {};

  template <class Archive>
  void serialize(Archive& to, unsigned) {
    to& call& archive& failed& problem;
  }
};

}  // namespace

std::vector<std::string> Agreement::exchange_archives(std::string_view call,
                                                      const std::function<std::string()>& make) {
  Statement mine{.call = std::string(call)};
  std::exception_ptr failure;
  try {
    mine.archive = make();
  } catch (const std::exception& error) {
    failure = std::current_exception();
    mine.problem = error.what();
  } catch (...) {
    failure = std::current_exception();
    mine.problem = "unknown exception";
  }
  mine.failed = failure != nullptr;
  const std::string bytes = to_archive(mine);
  CallWatch watch(reports_, call);
  const auto gathered = transport_.all_gather(std::as_bytes(std::span(bytes)), &watch);
  failed_everywhere_ = true;  // unless the end is reached
  std::vector<Statement> statements;
  for (const auto& one : gathered) {
    statements.push_back(from_archive<Statement>({reinterpret_cast<const char*>(one.data()), one.size()}));
    if (statements.back().call != statements[0].call) {
      throw CollectiveMismatch(fmt::format("ranks made different collective calls: rank 0: {}; rank {}: {}",
                                           statements[0].call, statements.size() - 1,
                                           statements.back().call));
    }
  }
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
