// Upper limits of everything countable: the only table of these numbers, which docs/limits.md repeats.
//
// A call that would exceed a limit throws before applying anything, or waits where a comment says so. Code
// that counts in fewer bits than its limit needs does not compile.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lapse::limits {

// --- a call of a worker

// Unanswered keys of all operations of a worker; an operation that would exceed it waits for answers. 29
// bits, as UnansweredCount has three flags in addition.
inline constexpr std::uint32_t kUnansweredKeys = (std::uint32_t{1} << 29) - 1;
// Keys in one call, repeated keys counted each time. All keys of a call may be unanswered.
inline constexpr std::uint32_t kKeysOfCall = kUnansweredKeys;
// Pairs in one call on single elements, of which each may be unanswered by itself.
inline constexpr std::uint32_t kPairsOfCall = kKeysOfCall;
// Elements in the values of one call: the start of a key's row is sent and stored in 32 bits.
inline constexpr std::uint32_t kElementsOfCall = 0xffff'ffffU;
// A worker's operations that are unfinished or whose handles are kept.
inline constexpr std::uint32_t kOperationsOfWorker = std::uint32_t{1} << 20;
// Bytes of each contribution to a collective call of workers.
inline constexpr std::size_t kCollectiveBytes = std::size_t{1} << 31;

// --- a server

// Workers on each rank.
inline constexpr std::int32_t kWorkersOfRank = 4096;
// Bytes of argument and result of a registered function, each.
inline constexpr std::size_t kFunctionBytes = std::size_t{64} << 10;

// --- a table

inline constexpr std::uint64_t kDenseKeys = std::uint64_t{1} << 40;
// Keys on the ranks that share memory, including keys in flight. A slot number has 32 bits; one value means
// none.
inline constexpr std::uint64_t kSparseKeys = 0xffff'fffeU;
// Bytes of one key: its value, the update rule's state, and the sum of gradients for replicas. A record's
// length has 32 bits and includes everything sent with them.
inline constexpr std::size_t kValueBytes = std::size_t{1} << 30;

static_assert(kKeysOfCall <= kUnansweredKeys);

}  // namespace lapse::limits
