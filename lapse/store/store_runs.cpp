// Accesses to many keys in a row.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "lapse/store/push_run.hpp"
#include "lapse/store/store.hpp"

namespace lapse {

namespace {

constexpr std::size_t kGroup = 8;
constexpr std::size_t kTogetherBytes = 256;     // at most, of a value of a group
constexpr std::size_t kPrefetchedBytes = 2048;  // at most, of a value; of longer ones, the processor itself
constexpr std::size_t kBeginBytes = 128;        // fetches what follows the begin

// The test of SlotBits::is_readable, or also of is_owner.
constexpr SlotBits::Test readable(Store::Reach reach) {
  constexpr std::uint64_t kClosed = SlotBits::kLeasedBit | SlotBits::kLatchBit | SlotBits::kPrivateBit;
  return reach == Store::Reach::any ? SlotBits::Test{SlotBits::kUsableBit | kClosed, SlotBits::kUsableBit}
                                    : SlotBits::Test{SlotBits::kRoleMask | kClosed, SlotBits::kOwnerBits};
}

// Reads values of `bytes` bytes with copy(to, content), in groups between two checks of their slot words.
// Returns how many, up to the first group with a value that cannot be read so.
template <class Copy>
std::size_t read_groups(const Store::Word* words, std::span<const Key> keys, const std::byte* slots,
                        std::ptrdiff_t unit_bytes, SlotBits::Test test, std::byte* to, std::size_t bytes,
                        std::size_t& copies, Copy&& copy) {
  const auto content = [=](std::uint64_t word) {
    return slots + std::ptrdiff_t{SlotBits(word).low()} * unit_bytes;
  };
  std::size_t done = 0;
  for (; done + kGroup <= keys.size(); done += kGroup) {
    const Key* const group = keys.data() + done;
    if (done + 4 * kGroup <= keys.size()) {
#pragma GCC unroll 8
      for (std::size_t i = 0; i < kGroup; ++i) __builtin_prefetch(words + group[3 * kGroup + i].index());
    }
    if (done + 2 * kGroup <= keys.size()) {
#pragma GCC unroll 8
      for (std::size_t i = kGroup; i < 2 * kGroup; ++i) {
        // For a slot word that names no slot this is an arbitrary address, which prefetching tolerates.
        const std::byte* const fetched = content(words[group[i].index()].load(std::memory_order_relaxed));
        __builtin_prefetch(fetched);
        if (bytes > sizeof(std::uint64_t)) __builtin_prefetch(fetched + 64);
      }
    }
    std::uint64_t before[kGroup];
    std::uint64_t closed = 0;
    std::uint64_t not_owned = 0;
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kGroup; ++i) {
      before[i] = words[group[i].index()].load(std::memory_order_acquire);
      closed |= (before[i] & test.mask) ^ test.value;
      not_owned |= (before[i] & SlotBits::kRoleMask) ^ SlotBits::kOwnerBits;
    }
    if (closed != 0) [[unlikely]]
      break;
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kGroup; ++i) copy(to + i * bytes, content(before[i]));
    std::atomic_thread_fence(std::memory_order_acquire);
    std::uint64_t changed = 0;
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kGroup; ++i)
      changed |= words[group[i].index()].load(std::memory_order_relaxed) ^ before[i];
    if (changed != 0) [[unlikely]]
      break;
    to += kGroup * bytes;
    if (not_owned != 0) [[unlikely]] {
      for (const std::uint64_t word : before) copies += SlotBits(word).is_copy() ? 1 : 0;
    }
  }
  return done;
}

}  // namespace

template <Store::Reach reach>
Store::Run Store::read_run(std::span<const Key> keys, std::byte* to) const {
  const std::size_t bytes = sizes_.layout().value_bytes();
  Run run;
  const auto read_next = [&] {
    const Word* const word = words_.find(keys[run.keys]);
    const Found found = word == nullptr ? Found() : read_one<reach>(*word, to, bytes);
    if (!found) return false;
    run.copies += found.is_copy() ? 1 : 0;
    ++run.keys;
    to += bytes;
    return true;
  };
#if !defined(__SANITIZE_THREAD__)
  const Word* const words = bytes <= kTogetherBytes ? words_.dense() : nullptr;
  const auto read_together = [&](auto&& copy) {
    // Like shared_address, whose members a copied value might change as far as the compiler knows.
    const std::byte* const slots = shared_address(0);
    const std::size_t count = read_groups(words, keys.subspan(run.keys), slots, shared_address(1) - slots,
                                          readable(reach), to, bytes, run.copies, copy);
    run.keys += count;
    to += count * bytes;
  };
  while (words != nullptr && run.keys + kGroup <= keys.size()) {
    if (bytes == sizeof(std::uint32_t)) {
      read_together([](std::byte* value, const std::byte* from) {
        detail::racy_copy_word<std::uint32_t>(value, from);
      });
    } else if (bytes == sizeof(std::uint64_t)) {
      read_together([](std::byte* value, const std::byte* from) {
        detail::racy_copy_word<std::uint64_t>(value, from);
      });
    } else {
      read_together([bytes](std::byte* value, const std::byte* from) { racy_copy(value, from, bytes); });
    }
    // Another thread writes one of the next group, or it is not local.
    for (std::size_t i = 0; i < kGroup && run.keys < keys.size(); ++i) {
      if (!read_next()) return run;
    }
  }
#endif
  const std::size_t fetched = bytes <= kPrefetchedBytes ? bytes : kBeginBytes;
  while (run.keys < keys.size()) {
    if (words_.is_sparse() || bytes > kTogetherBytes) prefetch_run(keys, run.keys, fetched);
    if (!read_next()) break;
  }
  return run;
}

template Store::Run Store::read_run<Store::Reach::main>(std::span<const Key> keys, std::byte* to) const;
template Store::Run Store::read_run<Store::Reach::any>(std::span<const Key> keys, std::byte* to) const;

Store::Run push_run(Store& store, const UpdateKernel& rule, std::span<const Key> keys, Store::Reach reach,
                    const std::byte* updates, float scale) {
  const ValueLayout& layout = store.sizes().layout();
  if (rule.kind() == UpdateRuleKind::add && layout.length == 1 && scale == 1.0F) {
    // The kernel's addition, inlined: for one element its call takes longer.
    return visit_element(layout.type, [&](auto element) {
      using T = decltype(element);
      using Sum = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                              std::type_identity<T>>::type;
      return store.update_run(keys, reach, [updates](std::size_t i, std::byte* slot) {
        Sum value;
        Sum update;
        std::memcpy(&value, slot, sizeof value);
        std::memcpy(&update, updates + i * sizeof update, sizeof update);
        value += update;
        std::memcpy(slot, &value, sizeof value);
      });
    });
  }
  const std::size_t bytes = layout.value_bytes();
  return store.update_run(keys, reach, [&](std::size_t i, std::byte* slot) {
    rule.apply(slot, updates + i * bytes, layout.length, scale);
  });
}

}  // namespace lapse
