#include "lapse/ps/agreement/agreement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <span>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/ps/agreement/step_thread.hpp"
#include "lapse/ps/stalls/stall_reports.hpp"

namespace lapse {

// The contribution of one rank to an exchange.
struct Agreement::Statement {
  std::string call;
  bool unfinished = false;  // the rest comes later, or came in an earlier meeting
  std::string archive = {};
  bool failed = false;
  std::string problem = {};

  template <class Archive>
  void serialize(Archive& to, unsigned) {
    to& call& unfinished& archive& failed& problem;
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
  last_meeting_.store(std::chrono::steady_clock::now());
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

std::vector<std::string> Agreement::archives_of(std::vector<Statement> statements,
                                                const std::exception_ptr& failure) {
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

std::vector<std::string> Agreement::exchange_archives(std::string_view call,
                                                      const std::function<std::string()>& make) {
  Statement mine{.call = std::string(call)};
  std::exception_ptr failure;
  fill(mine, make, failure);
  return archives_of(gather(mine), failure);
}

std::vector<std::string> Agreement::exchange_long_archives(std::string_view call,
                                                           const std::function<std::string()>& make) {
  const Statement unfinished{.call = std::string(call), .unfinished = true};
  Statement mine{.call = std::string(call)};
  std::exception_ptr failure;
  std::vector<Statement> all(static_cast<std::size_t>(transport_.ranks()), unfinished);
  const Statement& own = all[transport_.rank().index()];
  const std::chrono::seconds limit = reports_ == nullptr ? std::chrono::seconds(0) : reports_->limit();
  const auto begin = std::chrono::steady_clock::now();
  auto reported = begin;
  StepThread step([&] { fill(mine, make, failure); });
  while (std::ranges::any_of(all, &Statement::unfinished)) {
    const bool is_done = step.wait_for(kBetweenMeetings);
    std::vector<Statement> met = gather(own.unfinished && is_done ? mine : unfinished);
    std::vector<Rank> missing;
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      if (!met[rank].unfinished) all[rank] = std::move(met[rank]);
      if (all[rank].unfinished) missing.emplace_back(static_cast<std::int32_t>(rank));
    }
    const auto now = std::chrono::steady_clock::now();
    if (limit.count() == 0 || now - reported < limit || missing.empty() || own.unfinished) continue;
    reports_->report_call(call, now - begin, missing);
    reported = now;
  }
  return archives_of(std::move(all), failure);
}

}  // namespace lapse
