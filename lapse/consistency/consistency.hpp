// What a worker's reads guarantee while others write.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lapse/core/export.hpp"

namespace lapse {

// The consistency policy of a table, equal on all ranks: docs/consistency.md. With each, a worker sees its
// own writes at once, and never an older value than before. All but `sequential` allow replicas, if a
// parameter manager (or ParameterServer::manage) asks for them.
class LAPSE_EXPORT Consistency {
 public:
  enum class Kind : std::uint8_t { sequential, eventual, bsp, cap };

  // Per key, every worker's operations take effect in its program order, wherever the key is.
  static const Consistency sequential;
  // A worker sees writes of other domains after one or two rounds, at the latest after sync_barrier: ASP.
  static const Consistency eventual;
  // Clocked (Worker::advance_clock): an access at clock c of a worker waits until reads show every update
  // that the others of its phase made before their clock c - s. So none is more than s clocks ahead of the
  // slowest. CAP(s) of Wei et al. (docs/consistency.md); BSP is CAP(0).
  static const Consistency bsp;
  static constexpr Consistency cap(std::uint32_t staleness) { return Consistency(Kind::cap, staleness); }
  // Such as "bsp", "cap(3)" or "asp" (eventual). Throws ConfigurationError.
  static Consistency parse(std::string_view text);

  constexpr Kind kind() const { return kind_; }
  constexpr bool may_have_copies() const { return kind_ != Kind::sequential; }
  // s; nullopt: no bound.
  constexpr std::optional<std::uint32_t> staleness() const {
    return kind_ == Kind::bsp || kind_ == Kind::cap ? std::optional(staleness_) : std::nullopt;
  }
  std::string to_string() const;
  constexpr bool operator==(const Consistency&) const = default;

 private:
  constexpr explicit Consistency(Kind kind, std::uint32_t staleness = 0)
      : kind_(kind), staleness_(staleness) {}

  Kind kind_;
  std::uint32_t staleness_;
};
inline constexpr Consistency Consistency::sequential{Consistency::Kind::sequential};
inline constexpr Consistency Consistency::eventual{Consistency::Kind::eventual};
inline constexpr Consistency Consistency::bsp{Consistency::Kind::bsp};

}  // namespace lapse
