#include "lapse/checkpoint/finite.hpp"

#include <cstring>

namespace lapse {

namespace {

// Infinite numbers and NaNs have all bits of the exponent set.
template <class Bits>
constexpr Bits kExponent = sizeof(Bits) == 4 ? Bits{0x7f800000U} : static_cast<Bits>(0x7ff0000000000000U);

template <class Bits, std::size_t kElements>
std::uint64_t count_some(const std::byte* bytes) {
  // The compiler vectorizes a loop of constant length.
  Bits count = 0;
  for (std::size_t i = 0; i < kElements; ++i) {
    Bits bits = 0;
    std::memcpy(&bits, bytes + i * sizeof(Bits), sizeof(Bits));
    count += (bits & kExponent<Bits>) == kExponent<Bits> ? 1 : 0;
  }
  return count;
}

template <class Bits>
std::uint64_t count(std::span<const std::byte> bytes) {
  constexpr std::size_t kAtOnce = 64;
  constexpr std::size_t kBytesAtOnce = kAtOnce * sizeof(Bits);
  std::uint64_t sum = 0;
  std::size_t at = 0;
  for (; at + kBytesAtOnce <= bytes.size(); at += kBytesAtOnce)
    sum += count_some<Bits, kAtOnce>(bytes.data() + at);
  for (; at + sizeof(Bits) <= bytes.size(); at += sizeof(Bits)) sum += count_some<Bits, 1>(bytes.data() + at);
  return sum;
}

}  // namespace

std::uint64_t count_not_finite(std::span<const std::byte> bytes, CheckpointElement element) {
  switch (element) {
    case CheckpointElement::float32:
      return count<std::uint32_t>(bytes);
    case CheckpointElement::float64:
      return count<std::uint64_t>(bytes);
    case CheckpointElement::int32:
    case CheckpointElement::int64:
      break;
  }
  return 0;
}

}  // namespace lapse
