// What benchmarks of the server share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "lapse/core/types.hpp"
#include "lapse/ps/parameter_server.hpp"

namespace lapse::bench {

// The value of the paper's measurements of access and relocation.
inline constexpr std::size_t kLength = 25;
inline constexpr std::size_t kValueBytes = kLength * sizeof(float);
inline constexpr std::size_t kKeyBytes = sizeof(std::uint64_t);

// Options of the environment, without the report at the start.
Options quiet_options();

// `count` keys, each drawn from `first` to first + keys - 1.
std::vector<Key> random_keys(std::uint64_t first, std::uint64_t keys, std::size_t count,
                             std::uint64_t stream);
// The keys from `first` to first + keys - 1 in random order.
std::vector<Key> shuffled_keys(std::uint64_t first, std::uint64_t keys, std::uint64_t stream);

// A benchmark has measured what it says only when its operations went the way it says. Throws UsageError when
// the counters differ.
void expect_count(std::string_view what, std::uint64_t counted, std::uint64_t expected);

}  // namespace lapse::bench
