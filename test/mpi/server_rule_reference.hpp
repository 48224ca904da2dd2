// A single-threaded reference of tables with update rules: the result of the pushes of one worker, in order.
#pragma once

#include <cstring>
#include <map>
#include <span>
#include <vector>

#include "lapse/store/update_rules/update_kernel.hpp"
#include "lapse/store/update_rules/update_rule.hpp"
#include "lapse/store/values/initialiser.hpp"

namespace lapse::test {

// Momentum. Its state has another length than the value: the velocity of each element and the number of
// pushes.
template <Element T>
struct Momentum {
  std::string name() const { return "momentum"; }
  std::size_t state_elements(std::size_t length) const { return length + 1; }
  void initialise(std::span<const T>, std::span<T> state) const {
    for (T& element : state) element = 0;
  }
  void apply(std::span<T> value, std::span<T> state, std::span<const T> update, float scale) const {
    state[value.size()] += 1;
    for (std::size_t i = 0; i < value.size(); ++i) {
      state[i] = T{0.5} * state[i] + update[i];
      value[i] -= static_cast<T>(scale) * T{0.25} * state[i];
    }
  }
};

template <Element T>
class RuleReference {
 public:
  // Values of `length` elements, initially those of the initialiser.
  RuleReference(const UpdateRule& rule, std::size_t length, Initialiser initialiser, std::uint64_t seed)
      : kernel_(rule, element_type<T>()),
        length_(length),
        elements_(length + rule.state_elements(length)),
        initialiser_(std::move(initialiser)),
        seed_(seed) {}

  void push(Key key, std::span<const T> update, float scale = 1.0F) {
    kernel_.apply(bytes(key), reinterpret_cast<const std::byte*>(update.data()), length_, scale);
  }
  void set(Key key, std::span<const T> value) {
    std::memcpy(bytes(key), value.data(), value.size_bytes());
    kernel_.initialise(bytes(key), length_);
  }

  std::span<const T> value(Key key) { return {elements(bytes(key)), length_}; }
  std::span<const T> state(Key key) { return {elements(bytes(key)) + length_, elements_ - length_}; }
  bool equal_value(Key key, std::span<const T> value) {
    return value.size() == length_ && std::memcmp(bytes(key), value.data(), value.size_bytes()) == 0;
  }
  bool equal_state(Key key, std::span<const T> state) {
    return state.size() == elements_ - length_ &&
           std::memcmp(bytes(key) + length_ * sizeof(T), state.data(), state.size_bytes()) == 0;
  }

 private:
  static const T* elements(const std::byte* bytes) { return reinterpret_cast<const T*>(bytes); }
  std::byte* bytes(Key key) {
    const auto [found, is_new] = contents_.try_emplace(key.value(), elements_);
    auto* content = reinterpret_cast<std::byte*>(found->second.data());
    if (is_new) {
      initialiser_.fill(seed_, key, element_type<T>(), length_, content);
      kernel_.initialise(content, length_);
    }
    return content;
  }

  UpdateKernel kernel_;
  std::size_t length_;
  std::size_t elements_;
  Initialiser initialiser_;
  std::uint64_t seed_;
  std::map<std::uint64_t, std::vector<T>> contents_;
};

}  // namespace lapse::test
