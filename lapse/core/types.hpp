// The project's vocabulary as distinct types: a key is not a rank, a rank is not a domain.
#pragma once

#if __cplusplus < 202002L
#error "lapse needs C++20: add -std=c++20 to the compiler's options"
#endif

#include <compare>
#include <concepts>
#include <cstdint>
#include <functional>

namespace lapse {

// An integer that does not mix with other integers. Trivially copyable: arrays of it can be sent as bytes.
template <class Tag, std::integral Representation>
class StrongInteger {
 public:
  using representation = Representation;

  constexpr StrongInteger() = default;
  constexpr explicit StrongInteger(Representation value) : value_(value) {}

  constexpr Representation value() const { return value_; }
  // The value as an index into an array.
  constexpr std::size_t index() const { return static_cast<std::size_t>(value_); }

  constexpr auto operator<=>(const StrongInteger&) const = default;

 private:
  Representation value_ = 0;
};

// Id of a parameter in a table. Dense tables have the keys 0 to K-1.
using Key = StrongInteger<struct KeyTag, std::uint64_t>;
// An MPI process: its number in the server's communicator.
using Rank = StrongInteger<struct RankTag, std::int32_t>;
// The ranks that share the slot words of one table; owner and home are properties of domains (the "nodes" of
// the papers).
using Domain = StrongInteger<struct DomainTag, std::int32_t>;
// A table of a server, numbered in order of creation.
using TableId = StrongInteger<struct TableIdTag, std::uint32_t>;
// How often a worker has advanced its clock.
using Clock = StrongInteger<struct ClockTag, std::int64_t>;
// Version of a main copy: raised by every change, moves with the value.
using Version = StrongInteger<struct VersionTag, std::uint64_t>;

// How a reduction combines the elements of workers.
enum class Reduce : std::uint8_t { sum, min, max };

}  // namespace lapse

template <class Tag, std::integral Representation>
struct std::hash<lapse::StrongInteger<Tag, Representation>> {
  std::size_t operator()(lapse::StrongInteger<Tag, Representation> id) const noexcept {
    return std::hash<Representation>{}(id.value());
  }
};
