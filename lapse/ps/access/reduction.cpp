#include "lapse/ps/access/reduction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "lapse/core/error.hpp"
#include "lapse/core/limits.hpp"

namespace lapse {

namespace {

std::string_view name_of(Reduce reduce) {
  switch (reduce) {
    case Reduce::sum:
      return "sum";
    case Reduce::min:
      return "min";
    case Reduce::max:
      return "max";
  }
  return "of an unknown kind";
}

std::string describe_call(const ReductionHeader& header) {
  switch (header.kind) {
    case ReductionHeader::Kind::barrier:
      return "barrier";
    case ReductionHeader::Kind::sync_barrier:
      return "sync_barrier";
    case ReductionHeader::Kind::reduce_double:
      return fmt::format("all_reduce {} of {} doubles", name_of(header.reduce), header.elements);
    case ReductionHeader::Kind::reduce_int64:
      return fmt::format("all_reduce {} of {} 64-bit integers", name_of(header.reduce), header.elements);
    case ReductionHeader::Kind::returned:
      return "has returned from its function";
    case ReductionHeader::Kind::broadcast:
      break;
  }
  return fmt::format("broadcast of {} bytes from worker {}", header.elements, header.root);
}

std::string describe(const ReductionHeader& header) {
  return fmt::format("worker {} on rank {}: {}", header.worker, header.rank, describe_call(header));
}

// Throws ProtocolError if the contribution's length differs from its header's.
ReductionHeader checked_header(const Bytes& contribution) {
  ReductionHeader header;
  if (contribution.size() >= sizeof header) {
    std::memcpy(&header, contribution.data(), sizeof header);
    const std::uint64_t bytes = contribution.size() - sizeof header;
    switch (header.kind) {
      case ReductionHeader::Kind::barrier:
      case ReductionHeader::Kind::returned:
        if (bytes == 0) return header;
        break;
      case ReductionHeader::Kind::sync_barrier:
        if (bytes == sizeof(QuiescenceCounts)) return header;
        break;
      case ReductionHeader::Kind::reduce_double:
      case ReductionHeader::Kind::reduce_int64:
        if (bytes % sizeof(double) == 0 && bytes / sizeof(double) == header.elements) return header;
        break;
      case ReductionHeader::Kind::broadcast:
        // Only the root contributes bytes.
        if (bytes == 0 || bytes == header.elements) return header;
        break;
    }
  }
  throw ProtocolError(fmt::format("a contribution of {} bytes to a collective call", contribution.size()));
}

double added(double a, double b) {
  return a + b;
}
// Wraps around at 64 bits.
std::int64_t added(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

template <class T>
void combine_elements(Reduce reduce, std::byte* into, const std::byte* from, std::uint64_t elements) {
  for (std::uint64_t i = 0; i < elements; ++i) {
    T a;
    T b;
    std::memcpy(&a, into + i * sizeof(T), sizeof a);
    std::memcpy(&b, from + i * sizeof(T), sizeof b);
    switch (reduce) {
      case Reduce::sum:
        a = added(a, b);
        break;
      case Reduce::min:
        a = std::min(a, b);
        break;
      case Reduce::max:
        a = std::max(a, b);
        break;
    }
    std::memcpy(into + i * sizeof(T), &a, sizeof a);
  }
}

}  // namespace

Bytes make_contribution(const ReductionHeader& header, std::span<const std::byte> elements) {
  if (elements.size() > limits::kCollectiveBytes) {
    throw UsageError(fmt::format("a collective call of workers with {} bytes: at most {}", elements.size(),
                                 limits::kCollectiveBytes));
  }
  Bytes bytes(sizeof header + elements.size());
  std::memcpy(bytes.data(), &header, sizeof header);
  if (!elements.empty()) std::memcpy(bytes.data() + sizeof header, elements.data(), elements.size());
  return bytes;
}

Bytes make_sync_contribution(ReductionHeader header) {
  constexpr QuiescenceCounts kNone;
  header.kind = ReductionHeader::Kind::sync_barrier;
  return make_contribution(header, std::as_bytes(std::span(&kNone, 1)));
}

std::span<const std::byte> result_elements(const Bytes& result, const ReductionHeader& call) {
  const ReductionHeader header = checked_header(result);
  const auto elements = std::span(result).subspan(sizeof header);
  if (!header.fits(call) || (elements.empty() && call.elements > 0)) {
    throw ProtocolError(fmt::format("a collective call has the result of another: {}; of {}", describe(call),
                                    describe(header)));
  }
  return elements;
}

Bytes make_returned(std::uint64_t worker, Rank rank) {
  return make_contribution({.kind = ReductionHeader::Kind::returned, .rank = rank.value(), .worker = worker},
                           {});
}

bool is_returned(const Bytes& contribution) {
  return checked_header(contribution).kind == ReductionHeader::Kind::returned;
}

bool waits_for_sync(const Bytes& contribution) {
  return checked_header(contribution).kind == ReductionHeader::Kind::sync_barrier;
}

QuiescenceCounts sync_counts(const Bytes& contribution) {
  QuiescenceCounts counts;
  if (!waits_for_sync(contribution)) throw ProtocolError("counts of a collective call that has none");
  std::memcpy(&counts, contribution.data() + sizeof(ReductionHeader), sizeof counts);
  return counts;
}

void add_sync_counts(Bytes& contribution, const QuiescenceCounts& counts) {
  QuiescenceCounts sums = sync_counts(contribution);
  sums += counts;
  std::memcpy(contribution.data() + sizeof(ReductionHeader), &sums, sizeof sums);
}

void combine_contributions(Bytes& into, const Bytes& from) {
  const ReductionHeader a = checked_header(into);
  const ReductionHeader b = checked_header(from);
  const bool a_returned = a.kind == ReductionHeader::Kind::returned;
  const bool b_returned = b.kind == ReductionHeader::Kind::returned;
  if (a_returned && b_returned) return;
  if (a_returned || b_returned) {
    const ReductionHeader& returned = a_returned ? a : b;
    throw CollectiveMismatch(fmt::format(
        "worker {} on rank {} has returned from its function, while other workers wait for it in a "
        "collective call: {}",
        returned.worker, returned.rank, describe(a_returned ? b : a)));
  }
  if (!a.fits(b)) {
    const auto& [first, second] = std::minmax(a, b, [](auto& x, auto& y) { return x.worker < y.worker; });
    throw CollectiveMismatch(
        fmt::format("workers made different collective calls: {}; {}", describe(first), describe(second)));
  }
  std::byte* elements = into.data() + sizeof a;
  switch (a.kind) {
    case ReductionHeader::Kind::barrier:
    case ReductionHeader::Kind::returned:
      break;
    case ReductionHeader::Kind::sync_barrier:
      add_sync_counts(into, sync_counts(from));
      break;
    case ReductionHeader::Kind::reduce_double:
      combine_elements<double>(a.reduce, elements, from.data() + sizeof a, a.elements);
      break;
    case ReductionHeader::Kind::reduce_int64:
      combine_elements<std::int64_t>(a.reduce, elements, from.data() + sizeof a, a.elements);
      break;
    case ReductionHeader::Kind::broadcast:
      if (from.size() > sizeof a) into = from;
      break;
  }
}

}  // namespace lapse
