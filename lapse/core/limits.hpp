// How much of each thing there can be: the one table of these numbers, which docs/limits.md repeats.
//
// The call that would exceed a limit throws before anything is applied, or waits where a comment says so.
// What counts in fewer bits than its limit needs does not compile.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lapse::limits {

// --- a call of a worker

// Of all operations of a worker that are not answered: an operation that would exceed it waits for answers.
// 30 bits, as UnansweredCount has two flags beside the count.
inline constexpr std::uint32_t kUnansweredKeys = (std::uint32_t{1} << 30) - 1;
// In one call, keys that repeat counted each time. What one call names may all be unanswered.
inline constexpr std::uint32_t kKeysOfCall = kUnansweredKeys;
// In the values of one call: where a key's row begins is sent and kept in 32 bits.
inline constexpr std::uint32_t kElementsOfCall = 0xffff'ffffU;
// Items of operations of which at least one is not answered, numbered in the table of unanswered keys: a
// number has 31 bits, beside the bit of an entry. An operation that would exceed it waits.
inline constexpr std::uint32_t kItemNumbers = std::uint32_t{1} << 31;
// Of a worker, that are not finished or whose handles are kept.
inline constexpr std::uint32_t kOperationsOfWorker = std::uint32_t{1} << 20;
// In each contribution to a collective call of workers.
inline constexpr std::size_t kCollectiveBytes = std::size_t{1} << 31;

// --- a server

// On each rank.
inline constexpr std::int32_t kWorkersOfRank = 4096;
// Argument and result of a registered function, each.
inline constexpr std::size_t kFunctionBytes = std::size_t{64} << 10;

// --- a table

inline constexpr std::uint64_t kDenseKeys = std::uint64_t{1} << 40;
// On the ranks that share memory, with the keys on their way. A slot has a number of 32 bits, and one that
// stands for none.
inline constexpr std::uint64_t kSparseKeys = 0xffff'fffeU;
// Of one key: its value, the state of the update rule, and the sum of gradients for copies. A record's length
// has 32 bits and includes all that travels beside these.
inline constexpr std::size_t kValueBytes = std::size_t{1} << 30;

static_assert(kKeysOfCall <= kUnansweredKeys && kUnansweredKeys <= kItemNumbers);

}  // namespace lapse::limits
