#include "adapm/sampling_options.hpp"

#include <fmt/format.h>

namespace adapm {

std::string to_text(const Sampling& sampling) {
  return fmt::format("scheme {}, {} replacement, {}, pools of {} keys used {} times, seed {}",
                     to_string(sampling.scheme), sampling.with_replacement ? "with" : "without",
                     sampling.postpone ? "postponing" : "not postponing", sampling.pool_keys,
                     sampling.pool_uses, sampling.seed);
}

}  // namespace adapm
