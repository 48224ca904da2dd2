// Messages that ranks exchange in collective control calls.
//
// The first byte selects a type. The following bytes are an archive, or changes of a valid one: an offset, 2
// bytes, and the byte to write there.
#include <span>
#include <string>
#include <vector>

#include "adapm/intents/key_frequencies.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/statistics/statistics_archive.hpp"
#include "lapse/ps/access/reduction.hpp"
#include "lapse/ps/agreement/archive.hpp"
#include "lapse/ps/phase/crowding.hpp"
#include "lapse/ps/stalls/peers.hpp"
#include "lapse/ps/tables/table_spec.hpp"
#include "test/fuzz/fuzz_check.hpp"
#include "test/fuzz/fuzz_input.hpp"
#include "test/fuzz/fuzz_target.hpp"

namespace lapse::test {
namespace {

std::string changed(std::string archive, FuzzInput& input) {
  while (!input.empty() && !archive.empty()) {
    const std::size_t at = input.number<std::uint16_t>() % archive.size();
    archive[at] = static_cast<char>(input.byte());
  }
  return archive;
}

template <class Value>
void read(bool is_raw, const Value& whole, FuzzInput& input) {
  const std::string sound = to_archive(whole);
  const std::string bytes = is_raw ? input.rest() : changed(sound, input);
  if (bytes == sound) {
    check(to_archive(from_archive<Value>(bytes)) == sound, "an archive survives");
    return;
  }
  try {
    const Value value = from_archive<Value>(bytes);
    static_cast<void>(from_archive<Value>(to_archive(value)));
  } catch (const ProtocolError&) {
    // Refused.
  }
}

TableSpec specification() {
  TableSpec spec;
  spec.name = "factors";
  spec.element = "float";
  return spec;
}

RankStatistics statistics() {
  RankStatistics rank;
  rank.tables.resize(2);
  rank.kinds.resize(3);
  rank.copies.push_back({.seconds = 1, .copies = {2, 3}});
  return rank;
}

// Reads two contributions to a collective call of workers, one of them valid, and the result of a call.
void read_contributions(FuzzInput& input) {
  const ReductionHeader call{.kind = static_cast<ReductionHeader::Kind>(input.byte() % 6), .elements = 2};
  const bool has_elements =
      call.kind == ReductionHeader::Kind::reduce_double || call.kind == ReductionHeader::Kind::reduce_int64;
  const std::vector<std::byte> elements(has_elements ? 16 : 0, std::byte{0x7f});
  Bytes into = make_contribution(call, elements);
  const std::string whole(reinterpret_cast<const char*>(into.data()), into.size());
  const std::string text = input.byte() % 2 == 0 ? changed(whole, input) : input.rest();
  const auto bytes = std::as_bytes(std::span(text));
  const Bytes from(bytes.begin(), bytes.end());
  try {
    combine_contributions(into, from);
    static_cast<void>(waits_for_sync(into));
    if (has_elements) check(result_elements(into, call).size() == 16, "a combination has all elements");
  } catch (const ProtocolError&) {
    // Refused.
  } catch (const CollectiveMismatch&) {
    // The message belongs to another call.
  }
  try {
    check(result_elements(from, call).size() <= 16, "a result fits the call");
  } catch (const ProtocolError&) {
    // Refused.
  }
}

void read_counts(const std::string& bytes) {
  adapm::KeyFrequencies::Counts counts;
  try {
    adapm::KeyFrequencies::add_bytes(bytes, counts);
  } catch (const ProtocolError&) {
    return;
  }
  check(adapm::KeyFrequencies::frequent(counts, counts.size(), 1).size() <= counts.size(),
        "only keys that were counted are frequent");
}

}  // namespace
}  // namespace lapse::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lapse::test;
  FuzzInput input(data, size);
  const std::uint8_t choice = input.byte();
  const bool is_raw = (choice & 8U) != 0;
  switch (choice % 8) {
    case 0:
      read<lapse::TableSpec>(is_raw, specification(), input);
      break;
    case 1:
      read<std::vector<std::string>>(is_raw, {"a text", "", "another"}, input);
      break;
    case 2:
      read<lapse::RankStatistics>(is_raw, statistics(), input);
      break;
    case 3:
      read<lapse::RankLoad>(is_raw, {.workers = 2, .binding = "0-3"}, input);
      break;
    case 4:
      read<lapse::Peers::Peer>(is_raw, {.host = "node3", .process = {}}, input);
      break;
    case 5:
      read<std::vector<std::size_t>>(is_raw, {1, 2, 3}, input);
      break;
    case 6:
      read_contributions(input);
      break;
    default:
      read_counts(input.rest());
      break;
  }
  return 0;
}
