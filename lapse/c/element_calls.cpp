// Single elements of values, in the C interface.
#include <utility>

#include "lapse/c/handles.hpp"
#include "lapse/core/error.hpp"
#include "lapse/ps/elements.hpp"

namespace lapse::c {

namespace {

struct Pairs {
  const lapse_table* table;
  const std::uint64_t* keys;
  std::size_t key_count;
  const std::uint32_t* indices;
  std::size_t elements;  // perhaps with their type
};

// Calls f(typed table, keys, indices) with one key or a span of keys.
template <class Void, class F>
Operation begin(const Pairs& pairs, Void* values, const F& f) {
  return visit(given(pairs.table, "table"), [&](const auto& typed) {
    const auto elements = as_values(typed, values, pairs.elements);
    if (pairs.indices == nullptr && !elements.empty()) throw UsageError("indices is NULL");
    const std::span<const std::uint32_t> indices(pairs.indices, elements.size());
    const std::span<const Key> keys = as_keys(pairs.keys, pairs.key_count);
    return keys.size() == 1 ? f(typed, keys[0], indices, elements) : f(typed, keys, indices, elements);
  });
}

Operation begin_pull(lapse_worker* worker, const Pairs& pairs, void* values) {
  Worker& caller = base(worker);
  return begin(pairs, values, [&](const auto& table, const auto& keys, auto indices, auto to) {
    return caller.pull_elements(table, keys, indices, to);
  });
}

Operation begin_push(lapse_worker* worker, const Pairs& pairs, const void* updates, float scale) {
  Worker& caller = base(worker);
  return begin(pairs, updates, [&](const auto& table, const auto& keys, auto indices, auto from) {
    return caller.push_elements(table, keys, indices, from, scale);
  });
}

}  // namespace

}  // namespace lapse::c

using lapse::c::given;
using lapse::c::guarded;
using lapse::c::hand_out;

lapse_status lapse_pull_elements(lapse_worker* worker, const lapse_table* table, const uint64_t* keys,
                                 size_t key_count, const uint32_t* indices, void* values, size_t elements) {
  return guarded([&] {
    lapse::c::begin_pull(worker, {table, keys, key_count, indices, elements}, values).wait();
  });
}

lapse_status lapse_push_elements(lapse_worker* worker, const lapse_table* table, const uint64_t* keys,
                                 size_t key_count, const uint32_t* indices, const void* updates,
                                 size_t elements) {
  return guarded([&] {
    lapse::c::begin_push(worker, {table, keys, key_count, indices, elements}, updates, 1.0F).wait();
  });
}

lapse_status lapse_pull_elements_begin(lapse_worker* worker, const lapse_table* table, const uint64_t* keys,
                                       size_t key_count, const uint32_t* indices, void* values,
                                       size_t elements, lapse_operation** operation) {
  return guarded([&] {
    given(operation, "operation");
    hand_out(worker, lapse::c::begin_pull(worker, {table, keys, key_count, indices, elements}, values),
             operation);
  });
}

lapse_status lapse_push_elements_begin(lapse_worker* worker, const lapse_table* table, const uint64_t* keys,
                                       size_t key_count, const uint32_t* indices, const void* updates,
                                       size_t elements, float scale, lapse_operation** operation) {
  return guarded([&] {
    hand_out(worker,
             lapse::c::begin_push(worker, {table, keys, key_count, indices, elements}, updates, scale),
             operation);
  });
}
