// What a worker's reads guarantee while others write.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lapse/core/export.hpp"
#include "lapse/core/value_bound.hpp"

namespace lapse {

// The consistency policy of a table, equal on all ranks: docs/consistency.md. With each, a worker sees its
// own writes at once, and never an older value than before. Most allow replicas, if a manager asks for them.
class LAPSE_EXPORT Consistency {
 public:
  enum class Kind : std::uint8_t { sequential, eventual, bsp, cap, ssp, essp, vap, cvap };

  // Per key, every worker's operations take effect in its program order, wherever the key is.
  static const Consistency sequential;
  // A worker sees writes of other domains after one or two rounds, at the latest after sync_barrier: ASP.
  static const Consistency eventual;
  // Clocked (Worker::advance_clock): an access at clock c of a worker waits until reads show every update
  // that the others made before their clock c - s: CAP(s) of Wei et al. (docs/consistency.md); BSP: CAP(0).
  static const Consistency bsp;
  static constexpr Consistency cap(std::uint32_t staleness) { return Consistency(Kind::cap, staleness); }
  // Like cap. ssp: without replicas; a worker keeps its reads for s clocks. essp: a domain replicates each
  // key that it accesses, from its first access on, and sends at clocks.
  static constexpr Consistency ssp(std::uint32_t staleness) { return Consistency(Kind::ssp, staleness); }
  static constexpr Consistency essp(std::uint32_t staleness) { return Consistency(Kind::essp, staleness); }
  // A push waits while some replica may lack more of the worker's pushes to its key than the bound; a larger
  // one passes alone. Strong: of all workers' pushes. cvap: and like cap. Throw ConfigurationError.
  static Consistency vap(const ValueBound& bound);
  static Consistency cvap(std::uint32_t staleness, const ValueBound& bound);
  // Such as "bsp", "cap(3)", "asp" (eventual), "cvap(2, 0.5/sqrt(t))", "vap(1, strong)". Throws
  // ConfigurationError.
  static Consistency parse(std::string_view text);

  constexpr bool may_have_copies() const { return kind_ != Kind::sequential && kind_ != Kind::ssp; }
  constexpr bool sends_at_clocks() const { return kind_ == Kind::bsp || kind_ == Kind::essp; }
  constexpr bool caches_reads() const { return kind_ == Kind::ssp; }
  constexpr bool replicates_accessed() const { return kind_ == Kind::essp; }
  // Nullopt: no bound.
  constexpr std::optional<std::uint32_t> staleness() const {
    return kind_ < Kind::bsp || kind_ == Kind::vap ? std::nullopt : std::optional(staleness_);
  }
  constexpr std::optional<ValueBound> value_bound() const {
    return kind_ < Kind::vap ? std::nullopt : std::optional(value_bound_);
  }
  std::string to_string() const;
  constexpr bool operator==(const Consistency&) const = default;

 private:
  constexpr explicit Consistency(Kind kind, std::uint32_t staleness = 0, const ValueBound& value_bound = {})
      : kind_(kind), staleness_(staleness), value_bound_(value_bound) {}

  Kind kind_;
  std::uint32_t staleness_;
  ValueBound value_bound_;
};
inline constexpr Consistency Consistency::sequential{Consistency::Kind::sequential};
inline constexpr Consistency Consistency::eventual{Consistency::Kind::eventual};
inline constexpr Consistency Consistency::bsp{Consistency::Kind::bsp};

}  // namespace lapse
