// The handles of the C interface.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "adapm/attached_intent_worker.hpp"
#include "adapm/parameter_manager.hpp"
#include "lapse/c/status.hpp"
#include "lapse/jobs/checkpoints.hpp"
#include "lapse/ps/lease.hpp"
#include "lapse/ps/mpi_calls.hpp"
#include "lapse/ps/parameter_server.hpp"

using AnyTable = std::variant<lapse::Table<float>, lapse::Table<double>, lapse::Table<std::int32_t>,
                              lapse::Table<std::int64_t>>;

struct lapse_table {
  AnyTable table;  // in the order of lapse_element

  const lapse::TableHandle& handle() const {
    return std::visit([](const auto& typed) -> const lapse::TableHandle& { return typed.handle(); }, table);
  }
};

struct lapse_function {
  const lapse::RegisteredFunction* function;
  const void* server;  // its owner
};

struct lapse_sampler {
  std::variant<adapm::Sampler<float>, adapm::Sampler<double>, adapm::Sampler<std::int32_t>,
               adapm::Sampler<std::int64_t>>
      sampler;
};

namespace lapse::c {

// Counts of handles that the application must free before their server.
struct HandleCounts {
  std::atomic<std::size_t> workers{0};
  std::atomic<std::size_t> operations{0};
  std::atomic<std::size_t> leases{0};
  std::atomic<std::size_t> samples{0};
  std::atomic<std::size_t> checkpoints{0};
  std::atomic<std::size_t> jobs{0};
};

// Counts one handle (RAII).
class CountedHandle {
 public:
  explicit CountedHandle(std::atomic<std::size_t>& count) : count_(count) {
    count_.fetch_add(1, std::memory_order_relaxed);
  }
  CountedHandle(const CountedHandle&) = delete;
  CountedHandle& operator=(const CountedHandle&) = delete;
  ~CountedHandle() { count_.fetch_sub(1, std::memory_order_release); }

 private:
  std::atomic<std::size_t>& count_;
};

}  // namespace lapse::c

struct lapse_server {
  std::unique_ptr<lapse::ParameterServer> own;       // or that of the manager
  std::unique_ptr<adapm::ParameterManager> manager;  // null: none
  bool closed = false;
  lapse::c::HandleCounts handles = {};
  std::vector<std::unique_ptr<lapse_table>> tables;
  std::vector<std::unique_ptr<lapse_function>> functions;
  std::vector<std::unique_ptr<lapse_sampler>> samplers;
  std::optional<lapse::MpiCalls> mpi_calls;  // between lapse_mpi_lock and lapse_mpi_unlock, which guard it

  lapse::ParameterServer& server() const { return manager ? manager->server() : *own; }
};

struct lapse_worker {
  explicit lapse_worker(lapse::c::HandleCounts& counts) : handles(counts) {}

  lapse::c::HandleCounts& handles;  // of its server
  lapse::Worker* worker = nullptr;
  adapm::IntentWorker* managed = nullptr;  // the same worker; null: of a server without a manager
  // Set for workers of lapse_attach.
  std::optional<std::variant<lapse::AttachedWorker, adapm::AttachedIntentWorker>> attached = {};
  std::optional<lapse::c::CountedHandle> counted = {};
};

// `counted` is the first member of the other handles, so that it is destroyed last.
struct lapse_operation {
  lapse::c::CountedHandle counted;
  lapse::Operation operation;
};

struct lapse_lease {
  struct Part {
    const lapse_table* table;
    std::size_t end;  // the number of keys up to the end of this part
  };

  lapse::c::CountedHandle counted;
  std::vector<Part> parts;
  lapse::Lease lease;
};

struct lapse_sample {
  lapse::c::CountedHandle counted;
  std::variant<adapm::PreparedSample<float>, adapm::PreparedSample<double>,
               adapm::PreparedSample<std::int32_t>, adapm::PreparedSample<std::int64_t>>
      sample;
};

struct lapse_checkpoints {
  lapse::c::CountedHandle counted;
  lapse::Checkpoints checkpoints;
  lapse::LoadedCheckpoint loaded = {};
};

namespace lapse::c {

// Calls f(table) with the table of its element type.
template <class F>
decltype(auto) visit(const lapse_table& table, F&& f) {
  switch (table.table.index()) {
    case 0:
      return f(*std::get_if<0>(&table.table));
    case 1:
      return f(*std::get_if<1>(&table.table));
    case 2:
      return f(*std::get_if<2>(&table.table));
    default:
      return f(*std::get_if<3>(&table.table));
  }
}

// Keys of the application and of the library have the same representation.
static_assert(sizeof(Key) == sizeof(std::uint64_t) && std::is_standard_layout_v<Key>);
inline std::span<const Key> as_keys(const std::uint64_t* keys, std::size_t count) {
  if (keys == nullptr && count > 0) throw UsageError("keys is NULL");
  return {reinterpret_cast<const Key*>(keys), count};
}
inline std::span<Key> as_keys(std::uint64_t* keys, std::size_t count) {
  if (keys == nullptr && count > 0) throw UsageError("keys is NULL");
  return {reinterpret_cast<Key*>(keys), count};
}

// Throws UsageError: elements of type `code` (lapse/c/elements.h) for a table of another type.
[[noreturn]] void throw_wrong_element(const TableHandle& table, ElementType expected, std::size_t code);

// Returns the number of elements without the type that a caller may have added. Throws UsageError unless the
// type is T.
template <class T>
std::size_t counted_elements(const TableHandle& table, std::size_t elements) {
  const std::size_t code = elements >> LAPSE_ELEMENT_SHIFT;
  if (code == 0 || code > LAPSE_NO_ELEMENT) return elements;
  constexpr std::size_t kExpected =
      1 + static_cast<std::size_t>(std::is_same_v<T, float>          ? LAPSE_FLOAT
                                   : std::is_same_v<T, double>       ? LAPSE_DOUBLE
                                   : std::is_same_v<T, std::int32_t> ? LAPSE_INT32
                                                                     : LAPSE_INT64);
  if (code != kExpected) [[unlikely]]
    throw_wrong_element(table, element_type<T>(), code);
  return elements & ((std::size_t{1} << LAPSE_ELEMENT_SHIFT) - 1);
}

template <class T, class Void>
auto as_values(const Table<T>& table, Void* values, std::size_t given_elements) {
  using Value = std::conditional_t<std::is_const_v<Void>, const T, T>;
  const std::size_t elements = counted_elements<T>(table.handle(), given_elements);
  if (values == nullptr && elements > 0) throw UsageError("values is NULL");
  return std::span<Value>(static_cast<Value*>(values), elements);
}

inline Clock clock_of(std::int64_t clock) {
  return Clock(static_cast<Clock::representation>(clock));
}

inline Worker& base(lapse_worker* worker) {
  return *given(worker, "worker").worker;
}
// Throws UsageError for a worker of a server without a manager.
adapm::IntentWorker& managed(lapse_worker* worker);

// Gives the caller a handle of the operation, or lets it continue without one.
void hand_out(const lapse_worker* worker, Operation operation, lapse_operation** to);

}  // namespace lapse::c
