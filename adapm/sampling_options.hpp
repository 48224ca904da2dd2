// How a sampler of a parameter manager chooses keys.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lapse/core/export.hpp"

namespace adapm {

// When the keys of a sample are drawn, and whether their accesses are announced (docs/sampling.md).
enum class SamplingScheme : std::uint8_t {
  naive,         // drawn when the sample is prepared, and accessed where they are stored
  prelocalised,  // drawn when the sample is prepared, and given an intent
  pool,          // a pool of keys is drawn and given an intent; each of its keys is used several times
  local,         // drawn when they are pulled, among the keys that are in memory of the worker's domain
};

inline constexpr std::array kSamplingSchemes{SamplingScheme::naive, SamplingScheme::prelocalised,
                                             SamplingScheme::pool, SamplingScheme::local};

constexpr std::string_view to_string(SamplingScheme scheme) {
  switch (scheme) {
    case SamplingScheme::naive:
      return "naive";
    case SamplingScheme::prelocalised:
      return "prelocalised";
    case SamplingScheme::pool:
      return "pool";
    case SamplingScheme::local:
      break;
  }
  return "local";
}

// Of one sampler, equal on all ranks. Unset fields default to the manager's options.
struct SamplingOptions {
  std::optional<SamplingScheme> scheme = {};
  bool with_replacement = true;       // false: the keys of one sample differ
  std::optional<bool> postpone = {};  // a key that is not local is used after later ones of its sample
  std::optional<std::uint32_t> pool_keys = {};  // of one pool, drawn by one worker; at least 1
  std::optional<std::uint32_t> pool_uses = {};  // of each key of a pool; at least 1
  // The seed of all draws. Default: the number of the sampler in its manager, from 0.
  std::optional<std::uint64_t> seed = {};
};

// SamplingOptions with all defaults resolved.
struct LAPSE_EXPORT Sampling {
  SamplingScheme scheme;
  bool with_replacement;
  bool postpone;
  std::uint32_t pool_keys;
  std::uint32_t pool_uses;
  std::uint64_t seed;
};

// For messages and for comparing ranks.
LAPSE_EXPORT std::string to_text(const Sampling& sampling);

}  // namespace adapm
