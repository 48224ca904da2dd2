// Code shared by benchmarks of the server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lapse/core/types.hpp"
#include "lapse/ps/parameter_server.hpp"

namespace lapse::bench {

// The value length in the paper's measurements of access and relocation.
inline constexpr std::size_t kLength = 25;
inline constexpr std::size_t kValueBytes = kLength * sizeof(float);
inline constexpr std::size_t kKeyBytes = sizeof(std::uint64_t);

// Options of the environment, without the report at the start.
Options quiet_options();
// Like quiet_options, except that ranks share no memory, so that even the ranks of a host send messages.
Options separate_options();

// The ranks that share memory, in the form of the option `domain`: rank, host or a number of ranks. Without
// this option: rank.
std::string domain_of(const Options& options);
// Whether a server of this build has an option of this name.
bool has_option(std::string_view name);

// `count` keys, each drawn from `first` to first + keys - 1.
std::vector<Key> random_keys(std::uint64_t first, std::uint64_t keys, std::size_t count,
                             std::uint64_t stream);
// `count` of the keys 0 to keys - 1, by Zipf's distribution with exponent 1.1; frequent keys are spread over
// all keys.
std::vector<Key> zipf_keys(std::uint64_t keys, std::size_t count, std::uint64_t stream);
// The keys from `first` to first + keys - 1 in random order.
std::vector<Key> shuffled_keys(std::uint64_t first, std::uint64_t keys, std::uint64_t stream);

// Checks that the operations were of the kind that the benchmark's comment describes. Throws UsageError if
// the counts differ.
void expect_count(std::string_view what, std::uint64_t counted, std::uint64_t expected);

}  // namespace lapse::bench
