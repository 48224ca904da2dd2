#include "lapse/ps/agreement.hpp"

#include <fmt/format.h>

#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>
#include <boost/serialization/string.hpp>
#include <span>
#include <sstream>

#include "lapse/core/error.hpp"

namespace lapse {

namespace {

struct Statement {
  std::string call;
  std::string content;
  bool failed = false;
  std::string problem;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& call& content& failed& problem;
  }
};

std::string to_archive(const Statement& statement) {
  std::ostringstream out;
  boost::archive::binary_oarchive archive(out, boost::archive::no_header);
  archive << statement;
  return out.str();
}

Statement from_archive(std::span<const std::byte> bytes) {
  std::istringstream in(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  boost::archive::binary_iarchive archive(in, boost::archive::no_header);
  Statement statement;
  archive >> statement;
  return statement;
}

}  // namespace

std::vector<std::string> Agreement::exchange(std::string_view call, const std::string& mine,
                                             const std::optional<std::string>& problem) {
  const std::string bytes = to_archive({std::string(call), mine, problem.has_value(), problem.value_or("")});
  const auto gathered = transport_.all_gather(std::as_bytes(std::span(bytes)));
  failed_everywhere_ = true;  // unless the end is reached
  std::vector<Statement> statements;
  statements.reserve(gathered.size());
  for (const auto& one : gathered) statements.push_back(from_archive(one));
  for (std::size_t rank = 1; rank < statements.size(); ++rank) {
    if (statements[rank].call != statements[0].call) {
      throw CollectiveMismatch(fmt::format("ranks made different collective calls: rank 0 {}, rank {} {}",
                                           statements[0].call, rank, statements[rank].call));
    }
  }
  bool failed = false;
  std::vector<std::string> contents;
  contents.reserve(statements.size());
  for (std::size_t rank = 0; rank < statements.size(); ++rank) {
    Statement& statement = statements[rank];
    if (statement.failed && !problem)
      throw PeerFailed(Rank(static_cast<std::int32_t>(rank)), statement.problem);
    failed = failed || statement.failed;
    contents.push_back(std::move(statement.content));
  }
  failed_everywhere_ = failed;
  return contents;
}

}  // namespace lapse
