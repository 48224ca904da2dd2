// The bytes of an input, used as a fuzzer's decisions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace lapse::test {

// Returns one number after the other; zeros when the bytes are used up.
class FuzzInput {
 public:
  FuzzInput(const std::uint8_t* data, std::size_t size) : bytes_(data, size) {}

  bool empty() const { return bytes_.empty(); }
  std::size_t size() const { return bytes_.size(); }

  std::uint8_t byte() { return number<std::uint8_t>(); }
  // Little-endian.
  template <class Number>
  Number number() {
    Number number = 0;
    const auto bytes = take(sizeof number);
    if (!bytes.empty()) std::memcpy(&number, bytes.data(), bytes.size());
    return number;
  }
  // The given number of bytes, or all that are left.
  std::span<const std::uint8_t> take(std::size_t bytes) {
    const auto taken = bytes_.first(std::min(bytes, bytes_.size()));
    bytes_ = bytes_.subspan(taken.size());
    return taken;
  }
  std::string text(std::size_t bytes) {
    const auto taken = take(bytes);
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }
  std::string rest() { return text(size()); }

 private:
  std::span<const std::uint8_t> bytes_;
};

}  // namespace lapse::test
