// Pull and push of single elements of values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "lapse/core/types.hpp"
#include "lapse/ps/worker.hpp"

namespace lapse {

// Worker::pull_elements and Worker::push_elements, for long values of which a call needs few elements: the
// weights of a linear model, the counts of a topic model.
//
//     worker.pull_elements(table, keys, indices, values).wait();
//     worker.push_elements(table, keys, indices, updates);
//     worker.pull_elements(table, key, indices, values).wait();
//     worker.push_elements(table, key, indices, updates);
//
// Element i of `values` or `updates` belongs to the pair of keys[i] (or of the one key) and indices[i]: it is
// element number indices[i], from 0, of the key's value. All spans have one length; pairs may repeat, and
// then pushes apply in order.
//
// The key's whole value stays what is owned, moved, replicated and ordered: these calls behave like pull and
// push of the key. Of adjacent pairs of one key, up to 4096 are read or changed together, and travel as one;
// so calls whose pairs are grouped by key cost less.
//
// `values` must live until the operation is finished or destroyed; the other arguments are not used after the
// call has returned. push_elements applies the table's update rule to the elements and their state: of the
// rules, add, sgd, adagrad and ftrl can do that. `scale`: like push.
//
// Before anything is applied, both throw KeyOutOfRange, LengthMismatch, and IndexOutOfRange
// (lapse/core/index_out_of_range.hpp). push_elements also throws UsageError for a table with another rule or
// with max_push_norm, and NotFiniteUpdate, naming key and index.

// For the library: a call without its types.
struct ElementCall {
  std::span<const Key> keys;  // by index, or a single one of all indices
  std::size_t keys_of_call;   // as many as indices
  std::span<const std::uint32_t> indices;
  std::size_t elements;
  bool is_push;
  const std::byte* updates = nullptr;  // push
  std::byte* values = nullptr;         // pull
  float scale = 1.0F;
};

namespace detail {

template <class Keys>
ElementCall element_call(const Keys& keys, std::span<const std::uint32_t> indices, std::size_t elements,
                         bool is_push) {
  if constexpr (std::is_same_v<Keys, Key>) {
    return {{&keys, 1}, indices.size(), indices, elements, is_push};
  } else {
    const std::span<const Key> all(keys);
    return {all, all.size(), indices, elements, is_push};
  }
}

}  // namespace detail

template <Element T, class Keys>
Operation Worker::pull_elements(const Table<T>& table, const Keys& keys,
                                std::span<const std::uint32_t> indices,
                                std::type_identity_t<std::span<T>> values) {
  ElementCall call = detail::element_call(keys, indices, values.size(), false);
  call.values = bytes(values);
  return begin_elements(table.handle(), call);
}

template <Element T, class Keys>
Operation Worker::push_elements(const Table<T>& table, const Keys& keys,
                                std::span<const std::uint32_t> indices,
                                std::type_identity_t<std::span<const T>> updates, float scale) {
  ElementCall call = detail::element_call(keys, indices, updates.size(), true);
  call.updates = bytes(updates);
  call.scale = scale;
  return begin_elements(table.handle(), call);
}

}  // namespace lapse
