// What workers do, in the C interface.
#include "lapse/c/handles.hpp"
#include "lapse/ps/function.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace lapse::c {

void hand_out(const lapse_worker* worker, Operation operation, lapse_operation** to) {
  if (to != nullptr)
    *to = new lapse_operation{CountedHandle(worker->handles.operations), std::move(operation)};
}

void throw_wrong_element(const TableHandle& table, ElementType expected, std::size_t code) {
  constexpr std::array kNames{"float", "double", "int32", "int64", "a type that no table has"};
  throw UsageError(
      fmt::format("table '{}' has values of {}, and a call has a pointer to {}: expected a pointer to the "
                  "type of the table",
                  table.name(), element_name(expected), kNames[code - 1]));
}

namespace {

Operation begin_pull(lapse_worker* worker, const lapse_table* table, const std::uint64_t* keys,
                     std::size_t count, void* values, std::size_t elements) {
  Worker& caller = base(worker);
  return visit(given(table, "table"), [&](const auto& typed) {
    const std::span<const Key> wanted = as_keys(keys, count);
    const auto to = as_values(typed, values, elements);
    // A single key takes the fast path.
    return count == 1 ? caller.pull(typed, wanted[0], to) : caller.pull(typed, wanted, to);
  });
}

Operation begin_push(lapse_worker* worker, const lapse_table* table, const std::uint64_t* keys,
                     std::size_t count, const void* updates, std::size_t elements, float scale) {
  Worker& caller = base(worker);
  return visit(given(table, "table"), [&](const auto& typed) {
    const std::span<const Key> pushed = as_keys(keys, count);
    const auto from = as_values(typed, updates, elements);
    return count == 1 ? caller.push(typed, pushed[0], from, scale) : caller.push(typed, pushed, from, scale);
  });
}

Operation begin_set(lapse_worker* worker, const lapse_table* table, const std::uint64_t* keys,
                    std::size_t count, const void* values, std::size_t elements) {
  Worker& caller = base(worker);
  return visit(given(table, "table"), [&](const auto& typed) {
    return caller.set(typed, as_keys(keys, count), as_values(typed, values, elements));
  });
}

Operation begin_localize(lapse_worker* worker, const lapse_table* table, const std::uint64_t* keys,
                         std::size_t count) {
  Worker& caller = base(worker);
  return visit(given(table, "table"),
               [&](const auto& typed) { return caller.localize(typed, as_keys(keys, count)); });
}

Operation begin_call(lapse_worker* worker, const lapse_table* table, const lapse_function* function,
                     const std::uint64_t* keys, std::size_t count, const void* arguments, void* results) {
  Worker& caller = base(worker);
  const TableHandle& handle = given(table, "table").handle();
  const RegisteredFunction& definition = *given(function, "function").function;
  if (count > 0 && definition.argument_bytes > 0) given(static_cast<const char*>(arguments), "arguments");
  if (count > 0 && definition.result_bytes > 0) given(static_cast<char*>(results), "results");
  const ElementType type = visit(*table, [](const auto& typed) {
    return element_type<typename std::remove_cvref_t<decltype(typed)>::element>();
  });
  if (type != definition.type) {
    throw UsageError(fmt::format("function '{}' is for values of {}, table '{}' has {}", definition.name,
                                 element_name(definition.type), handle.name(), element_name(type)));
  }
  return caller.call(handle, definition, function->server, as_keys(keys, count),
                     static_cast<const std::byte*>(arguments), static_cast<std::byte*>(results));
}

Reduce reduce_of(lapse_reduce reduce) {
  return choice_at<UsageError>(std::array{Reduce::sum, Reduce::min, Reduce::max}, reduce,
                               "a reduction of number");
}

template <class T>
std::span<T> elements_of(T* values, std::size_t count) {
  if (values == nullptr && count > 0) throw UsageError("values is NULL");
  return {values, count};
}

}  // namespace

}  // namespace lapse::c

using lapse::Key;
using lapse::c::as_values;
using lapse::c::base;
using lapse::c::given;
using lapse::c::guarded;
using lapse::c::hand_out;
using lapse::c::visit;

size_t lapse_worker_index(const lapse_worker* worker) {
  return worker == nullptr ? 0 : worker->worker->index();
}
size_t lapse_worker_count(const lapse_worker* worker) {
  return worker == nullptr ? 0 : worker->worker->count();
}
size_t lapse_worker_local_index(const lapse_worker* worker) {
  return worker == nullptr ? 0 : worker->worker->local_index();
}
size_t lapse_worker_local_count(const lapse_worker* worker) {
  return worker == nullptr ? 0 : worker->worker->local_count();
}

// --- accesses

lapse_status lapse_pull(lapse_worker* worker, const lapse_table* table, const uint64_t* keys, size_t count,
                        void* values, size_t elements) {
  return guarded([&] { lapse::c::begin_pull(worker, table, keys, count, values, elements).wait(); });
}
lapse_status lapse_push(lapse_worker* worker, const lapse_table* table, const uint64_t* keys, size_t count,
                        const void* updates, size_t elements) {
  return guarded([&] { lapse::c::begin_push(worker, table, keys, count, updates, elements, 1.0F).wait(); });
}
lapse_status lapse_set(lapse_worker* worker, const lapse_table* table, const uint64_t* keys, size_t count,
                       const void* values, size_t elements) {
  return guarded([&] { lapse::c::begin_set(worker, table, keys, count, values, elements).wait(); });
}
lapse_status lapse_localize(lapse_worker* worker, const lapse_table* table, const uint64_t* keys,
                            size_t count) {
  return guarded([&] { lapse::c::begin_localize(worker, table, keys, count).wait(); });
}
lapse_status lapse_call(lapse_worker* worker, const lapse_table* table, const lapse_function* function,
                        const uint64_t* keys, size_t count, const void* arguments, void* results) {
  return guarded(
      [&] { lapse::c::begin_call(worker, table, function, keys, count, arguments, results).wait(); });
}

lapse_status lapse_pull_begin(lapse_worker* worker, const lapse_table* table, const uint64_t* keys,
                              size_t count, void* values, size_t elements, lapse_operation** operation) {
  return guarded([&] {
    given(operation, "operation");
    hand_out(worker, lapse::c::begin_pull(worker, table, keys, count, values, elements), operation);
  });
}
lapse_status lapse_push_begin(lapse_worker* worker, const lapse_table* table, const uint64_t* keys,
                              size_t count, const void* updates, size_t elements, float scale,
                              lapse_operation** operation) {
  return guarded([&] {
    hand_out(worker, lapse::c::begin_push(worker, table, keys, count, updates, elements, scale), operation);
  });
}
lapse_status lapse_set_begin(lapse_worker* worker, const lapse_table* table, const uint64_t* keys,
                             size_t count, const void* values, size_t elements, lapse_operation** operation) {
  return guarded([&] {
    hand_out(worker, lapse::c::begin_set(worker, table, keys, count, values, elements), operation);
  });
}
lapse_status lapse_localize_begin(lapse_worker* worker, const lapse_table* table, const uint64_t* keys,
                                  size_t count, lapse_operation** operation) {
  return guarded([&] { hand_out(worker, lapse::c::begin_localize(worker, table, keys, count), operation); });
}
lapse_status lapse_call_begin(lapse_worker* worker, const lapse_table* table, const lapse_function* function,
                              const uint64_t* keys, size_t count, const void* arguments, void* results,
                              lapse_operation** operation) {
  return guarded([&] {
    if (given(function, "function").function->result_bytes > 0) given(operation, "operation");
    hand_out(worker, lapse::c::begin_call(worker, table, function, keys, count, arguments, results),
             operation);
  });
}

int lapse_operation_done(const lapse_operation* operation) {
  return lapse::c::answered([&] { return operation == nullptr || operation->operation.done(); }, 1);
}
lapse_status lapse_wait(lapse_operation* operation) {
  return guarded([&] {
    const std::unique_ptr<lapse_operation> waiting(operation);
    if (waiting) waiting->operation.wait();
  });
}
void lapse_operation_free(lapse_operation* operation) {
  delete operation;
}

// --- values in local memory

lapse_status lapse_pull_if_local(lapse_worker* worker, const lapse_table* table, uint64_t key, void* value,
                                 size_t elements, int* done) {
  return guarded([&] {
    lapse::Worker& caller = base(worker);
    given(done, "done");
    *done = visit(given(table, "table"), [&](const auto& typed) {
      return caller.pull_if_local(typed, Key(key), as_values(typed, value, elements));
    });
  });
}

lapse_status lapse_update_if_local(lapse_worker* worker, const lapse_table* table, uint64_t key,
                                   int (*function)(void* context, void* value, size_t length), void* context,
                                   int* done) {
  return guarded([&] {
    lapse::Worker& caller = base(worker);
    given(done, "done");
    if (function == nullptr) throw lapse::UsageError("function is NULL");
    *done = visit(given(table, "table"), [&](const auto& typed) {
      return caller.update_if_local(typed, Key(key), [&](auto value) {
        lapse::c::check_callback(function(context, value.data(), value.size()), "an update in place");
      });
    });
  });
}

lapse_status lapse_locality_of(lapse_worker* worker, const lapse_table* table, uint64_t key,
                               lapse_locality* locality) {
  return guarded([&] {
    lapse::Worker& caller = base(worker);
    given(locality, "locality");
    switch (
        visit(given(table, "table"), [&](const auto& typed) { return caller.locality(typed, Key(key)); })) {
      case lapse::Locality::local:
        *locality = LAPSE_LOCAL;
        return;
      case lapse::Locality::not_local:
        *locality = LAPSE_NOT_LOCAL;
        return;
      case lapse::Locality::private_to_neighbour:
        *locality = LAPSE_PRIVATE_TO_NEIGHBOUR;
        return;
    }
  });
}

lapse_status lapse_for_each_local(lapse_worker* worker, const lapse_table* table,
                                  int (*function)(void* context, uint64_t key, const void* value,
                                                  size_t length),
                                  void* context) {
  return guarded([&] {
    lapse::Worker& caller = base(worker);
    if (function == nullptr) throw lapse::UsageError("function is NULL");
    visit(given(table, "table"), [&](const auto& typed) {
      caller.for_each_local(typed, [&](Key key, auto value) {
        lapse::c::check_callback(function(context, key.value(), value.data(), value.size()), "a visit");
      });
    });
  });
}

// --- collective

lapse_status lapse_wait_all(lapse_worker* worker) {
  return guarded([&] { base(worker).wait_all(); });
}
lapse_status lapse_wait_sync(lapse_worker* worker) {
  return guarded([&] { base(worker).wait_sync(); });
}
lapse_status lapse_barrier(lapse_worker* worker) {
  return guarded([&] { base(worker).barrier(); });
}
lapse_status lapse_sync_barrier(lapse_worker* worker) {
  return guarded([&] { base(worker).sync_barrier(); });
}
lapse_status lapse_all_reduce_double(lapse_worker* worker, double* values, size_t count,
                                     lapse_reduce reduce) {
  return guarded(
      [&] { base(worker).all_reduce(lapse::c::elements_of(values, count), lapse::c::reduce_of(reduce)); });
}
lapse_status lapse_all_reduce_int64(lapse_worker* worker, int64_t* values, size_t count,
                                    lapse_reduce reduce) {
  return guarded(
      [&] { base(worker).all_reduce(lapse::c::elements_of(values, count), lapse::c::reduce_of(reduce)); });
}
lapse_status lapse_broadcast(lapse_worker* worker, void* bytes, size_t count, size_t root) {
  return guarded(
      [&] { base(worker).broadcast(lapse::c::elements_of(static_cast<std::byte*>(bytes), count), root); });
}
