// A parameter server with dynamic parameter allocation over the ranks of a communicator.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/export.hpp"
#include "lapse/core/mpi_library.h"
#include "lapse/core/options.hpp"
#include "lapse/core/types.hpp"
#include "lapse/ps/table.hpp"
#include "lapse/ps/worker.hpp"

namespace lapse {

class AttachedWorker;
struct GroupEnd;
struct GroupPart;
class IntentSource;
class KeyObserver;
class ManagementPolicy;
class MpiCalls;
class Transport;
struct RoundTimes;
struct Statistics;

// One object on each rank. Several servers may live in one process, on equal or different communicators.
// Their collective calls are made one after the other, in the same order on all ranks, like those of MPI,
// also by different threads: two that create tables on two servers at the same time can wait for each other
// indefinitely.
//
// Thread safety: one thread (with MPI_THREAD_FUNNELED: the main thread). The thread that calls run_workers
// drives the communication of this rank until the workers have finished. Between calls of the server nothing
// runs, and the application may use MPI freely.
//
// Close the server before MPI_Finalize: after it, calls throw MpiStateError. In a child that fork has made,
// calls throw UsageError, except rank, ranks, hosts and options; close and the destructor do nothing
// (docs/embedding.md). For more, include function.hpp, lease.hpp, attached_worker.hpp or mpi_calls.hpp of
// this folder, or lapse/core/statistics.hpp.
class LAPSE_EXPORT ParameterServer {
 public:
  // Collective. Duplicates the communicator, which remains the caller's. Initialise MPI with
  // MPI_THREAD_SERIALIZED. With MPI_THREAD_FUNNELED, workers do not help with communication; with
  // MPI_THREAD_SINGLE (plain MPI_Init), only run_here is allowed. Throws MpiStateError, ConfigurationError
  // (also if the options of the ranks differ), MpiError.
  ParameterServer(MPI_Comm communicator, const Options& options);
  // Uses Options::from_environment: rank 0 reads the file that its environment names, for all ranks.
  explicit ParameterServer(MPI_Comm communicator);
  // The same, from sources that are equal on all ranks.
  ParameterServer(MPI_Comm communicator, const OptionSources& sources);
  // Collective. A server over any transport. If `helping`, workers may call into the transport.
  ParameterServer(std::unique_ptr<Transport> transport, const Options& options, bool helping = true);
  ParameterServer(const ParameterServer&) = delete;
  ParameterServer& operator=(const ParameterServer&) = delete;
  // Closes the server, collectively, unless it is closed. While an exception unwinds on this rank alone, no
  // other rank would answer: then aborts the job, with the reason. After PeerFailed, which every rank throws,
  // it closes.
  ~ParameterServer();

  Rank rank() const;
  std::int32_t ranks() const;
  const Options& options() const;
  // By rank, a number of its host, equal for ranks of one host.
  std::vector<std::int32_t> hosts() const;

  // Collective. Throws on every rank: CollectiveMismatch if the options of the ranks differ,
  // ConfigurationError if the options are invalid or the name is taken, OutOfMemory if a rank is out of
  // memory, UserCodeFailed if a function among the options throws on a rank (PeerFailed on the other ranks).
  template <Element T>
  Table<T> create_table(const TableOptions& options) {
    return Table<T>(create_table(options, element_type<T>()), identity());
  }

  // Collective. Registers f for Worker::call, which runs f at the owner of a key: Result f(Key, std::span<T>
  // value, const Argument&), without the last parameter if Argument is Nothing, and void if Result is
  // Nothing. Both are trivially copyable. Any thread of the server may run f, several at a time, under the
  // key's latch: f must not block and must not call the server. Throws on every rank: CollectiveMismatch if
  // the ranks register differently, ConfigurationError if the name is taken or empty.
  template <Element T, class Argument = std::monostate, class Result = std::monostate, class F>
  Function<T, Argument, Result> register_function(std::string name, F f);

  // For interfaces to other languages: a function without its types, and the identity of its server.
  const RegisteredFunction& register_function(RegisteredFunction function);
  const void* identity() const;

  // Each worker is a thread with a stack and a core to run on: a larger number is a mistake.
  static constexpr std::int32_t kMaxWorkers = 4096;

  // Collective. Runs f(worker) on `workers` threads of this rank. Each rank chooses its number, 0 to
  // kMaxWorkers; otherwise throws UsageError (PeerFailed on the other ranks). With no worker at all, every
  // rank throws UsageError. Returns when all workers of all ranks have returned and every rank has quiesced.
  // If a worker throws, every rank throws PeerFailed with its message, and from then on the server supports
  // only statistics and close. Throws MpiStateError if MPI was initialised with MPI_THREAD_SINGLE.
  void run_workers(std::int32_t workers, const std::function<void(Worker&)>& f);

  // Collective. Runs several groups of workers at the same time (groups.hpp): each has its own collective
  // calls, its own failure and its own numbers of workers. `groups`: as many on every rank, each with a
  // worker on some rank. Returns when all workers have returned, with how each group has ended. A worker that
  // throws ends its group alone. Throws UsageError for impossible numbers of workers (PeerFailed on the other
  // ranks), or a group without workers; CollectiveMismatch if ranks give different numbers of groups;
  // PeerFailed if a rank fails: then no GroupEnd is returned; MpiStateError like run_workers.
  std::vector<GroupEnd> run_groups(std::span<const GroupPart> groups);

  // --- in place of run_workers; each rank chooses (docs/application-threads.md) ---

  // Collective. Runs f on the calling thread as this rank's only worker, whose waits handle the messages of
  // the rank: while f computes, it answers no other rank; see progress().
  void run_here(const std::function<void(Worker&)>& f);
  // Collective. Begins a phase in which threads of the application take `workers` places. A thread of the
  // server handles messages; with MPI_THREAD_FUNNELED, the calling thread does, in progress() and when a
  // worker that it has attached waits.
  void start_progress(std::int32_t workers);
  // Collective. Ends this phase, like the end of run_workers. Throws UsageError if a worker is attached.
  void stop_progress();
  // For libraries on top of the server: the checks of stop_progress(); no thread can attach from then on.
  void end_attaching(std::string_view call);
  // Any thread, between start_progress and stop_progress. The calling thread takes the given place, or the
  // first free one; its number is the worker's local index. Collective calls of workers wait for all places.
  // Throws UsageError if the place is taken.
  [[nodiscard]] AttachedWorker attach(std::optional<std::size_t> place = {});
  // Within a phase: handles the messages that have arrived. If none has, and no thread of the server does
  // that, waits at most `wait`. Throws UsageError if this thread must not call MPI.
  void progress(std::chrono::microseconds wait = {});
  // For the application's MPI calls while workers run. Throws UsageError if this thread must not call MPI.
  [[nodiscard]] MpiCalls mpi_calls();

  // Collective. The counters of all ranks since the start.
  Statistics statistics();

  // Collective. For libraries on top of the server: returns make() of every rank, by rank. If make() throws,
  // so does this rank, and the other ranks throw PeerFailed.
  std::vector<std::string> exchange(std::string_view call, const std::function<std::string()>& make);

  // Any thread. Asks the workers of all ranks to return early (JobControl): soon, or in the next phase.
  void request_stop();
  // Any thread. Returns true if a rank has requested a stop.
  bool stop_requested() const;

  // For libraries on top of the server, between phases: `source` gives this rank's wants of keys, `policy`
  // decides about them, `times` says when rounds begin. Source and policy outlive the server.
  void manage(IntentSource& source, const ManagementPolicy& policy, const RoundTimes& times);
  // Likewise: the observer is notified of these wants and of all accesses, which become slower.
  void observe(KeyObserver& observer);

  // Bytes of this rank, with its part of memory that the ranks of a domain share.
  struct MemoryUse {
    std::uint64_t words = 0;      // slot words of keys, and lengths where keys have their own
    std::uint64_t ownership = 0;  // owners of the keys whose home is this domain
    std::uint64_t slabs = 0;      // committed for values and the state of update rules
    std::uint64_t values = 0;     // used of the slabs: values and states of local keys
    std::uint64_t copies = 0;     // of replicas, beside their slots
    std::uint64_t buffers = 0;    // of a server: for messages, at most, once all have been used
    // The values are within the slabs.
    std::uint64_t total() const { return words + ownership + slabs + copies + buffers; }
  };
  // Returns the memory of a table, or of all tables and the server. Call it between phases. Throws UsageError
  // for a table of another server.
  template <Element T>
  MemoryUse memory_use(const Table<T>& table) const {
    return memory_use(table.handle());
  }
  MemoryUse memory_use() const;
  // Not collective. Estimates the memory of a table with these options when it is made, of a sparse one with
  // max_keys. A key that arrives later, or a replica, takes a further slot. Calls the options' functions for
  // the length and home of each key. Throws what create_table throws, except OutOfMemory.
  template <Element T>
  MemoryUse estimate_memory(const TableOptions& options) const {
    return estimate_memory(options, element_type<T>());
  }

  // Collective. Proves that nothing is in flight, and ends the server. Later calls throw ClosedError.
  void close();
  // Returns the last_words of every rank, by rank; none in a child that fork has made.
  std::vector<std::string> close(const std::string& last_words);

 private:
  class LAPSE_HIDDEN Impl;

  static std::unique_ptr<Impl> make_impl(MPI_Comm communicator, const Options& options,
                                         const std::exception_ptr& problem);
  TableShard& create_table(const TableOptions& options, ElementType type);
  MemoryUse memory_use(const TableHandle& table) const;
  MemoryUse estimate_memory(const TableOptions& options, ElementType type) const;

  std::unique_ptr<Impl> impl_;
};

}  // namespace lapse
