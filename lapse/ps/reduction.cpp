#include "lapse/ps/reduction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "lapse/core/error.hpp"

namespace lapse {

namespace {

std::string describe(const ReductionHeader& header) {
  switch (header.kind) {
    case ReductionHeader::Kind::barrier:
      return "barrier";
    case ReductionHeader::Kind::reduce_double:
      return fmt::format("all_reduce of {} doubles", header.elements);
    case ReductionHeader::Kind::reduce_int64:
      return fmt::format("all_reduce of {} 64-bit integers", header.elements);
    case ReductionHeader::Kind::broadcast:
      break;
  }
  return fmt::format("broadcast of {} bytes from worker {}", header.elements, header.root);
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
        a += b;
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
  constexpr std::size_t kMaxBytes = std::size_t{1} << 31;
  if (elements.size() > kMaxBytes) {
    throw UsageError(
        fmt::format("a collective call of workers with {} bytes: at most {}", elements.size(), kMaxBytes));
  }
  Bytes bytes(sizeof header + elements.size());
  std::memcpy(bytes.data(), &header, sizeof header);
  if (!elements.empty()) std::memcpy(bytes.data() + sizeof header, elements.data(), elements.size());
  return bytes;
}

std::span<const std::byte> contribution_elements(const Bytes& contribution) {
  return std::span(contribution).subspan(sizeof(ReductionHeader));
}

void combine_contributions(Bytes& into, const Bytes& from) {
  ReductionHeader a;
  ReductionHeader b;
  std::memcpy(&a, into.data(), sizeof a);
  std::memcpy(&b, from.data(), sizeof b);
  if (a != b) {
    throw CollectiveMismatch(
        fmt::format("workers made different collective calls: {} and {}", describe(a), describe(b)));
  }
  std::byte* elements = into.data() + sizeof a;
  switch (a.kind) {
    case ReductionHeader::Kind::barrier:
      break;
    case ReductionHeader::Kind::reduce_double:
      combine_elements<double>(a.reduce, elements, from.data() + sizeof a, a.elements);
      break;
    case ReductionHeader::Kind::reduce_int64:
      combine_elements<std::int64_t>(a.reduce, elements, from.data() + sizeof a, a.elements);
      break;
    case ReductionHeader::Kind::broadcast:
      // Only the root contributes bytes.
      if (from.size() > sizeof a) into = from;
      break;
  }
}

}  // namespace lapse
