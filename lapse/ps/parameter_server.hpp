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

// One object on each rank. Several servers may live in one process, on equal or different communicators;
// their collective calls are made one after the other, in the same order on all ranks, as those of MPI. That
// holds for servers of different threads, too: two threads that make tables on two servers at the same time
// can wait for each other indefinitely, as making shared memory keeps other threads out of MPI until all
// ranks have joined.
//
// Thread safety: one thread (with MPI_THREAD_FUNNELED: the main thread). The thread that calls run_workers
// drives the communication of this rank until the workers have finished; between calls of the server nothing
// runs, and the application may use MPI freely.
//
// A server is closed before MPI_Finalize: after it, calls throw MpiStateError; the destructor logs an error.
//
// In a child that fork has made, calls throw UsageError, except rank, ranks, hosts and options; close and
// the destructor do nothing (docs/embedding.md). Where the function of a worker leaves a child of a thread of
// the server, the child ends: it has no caller.
//
// This header shows tables, workers and their operations. A program that uses more includes what it uses:
// function.hpp, lease.hpp, attached_worker.hpp and mpi_calls.hpp of this folder, lapse/core/statistics.hpp.
class LAPSE_EXPORT ParameterServer {
 public:
  // Collective. Duplicates the communicator, which stays the caller's. MPI should be initialised with
  // MPI_THREAD_SERIALIZED; with MPI_THREAD_FUNNELED workers do not help with communication, and with
  // MPI_THREAD_SINGLE (plain MPI_Init) there is only run_here. Throws MpiStateError, ConfigurationError (also
  // when the ranks have different options), MpiError.
  ParameterServer(MPI_Comm communicator, const Options& options);
  // With Options::from_environment; where the environment of a rank is wrong, every rank throws. Rank 0 reads
  // the file that its environment names, for all.
  explicit ParameterServer(MPI_Comm communicator);
  // Likewise, with sources that are equal on all ranks.
  ParameterServer(MPI_Comm communicator, const OptionSources& sources);
  // Collective. A server over any transport; `helping`: workers may call into the transport.
  ParameterServer(std::unique_ptr<Transport> transport, const Options& options, bool helping = true);
  ParameterServer(const ParameterServer&) = delete;
  ParameterServer& operator=(const ParameterServer&) = delete;
  // Collective unless closed: closes. While an exception unwinds on this rank alone no rank would answer:
  // then the job is aborted, with the reason. After PeerFailed, which every rank sees, closing is in order.
  ~ParameterServer();

  Rank rank() const;
  std::int32_t ranks() const;
  const Options& options() const;
  // For each rank a number of its host: equal for ranks of one host.
  std::vector<std::int32_t> hosts() const;

  // Collective. Throws, on every rank: CollectiveMismatch when the ranks' options differ, ConfigurationError
  // for impossible options or a name that is taken, OutOfMemory when some rank has no room, UserCodeFailed
  // when a function among the options throws on some rank (PeerFailed on the others).
  template <Element T>
  Table<T> create_table(const TableOptions& options) {
    return Table<T>(create_table(options, element_type<T>()), identity());
  }

  // Collective. Registers f under a name, so that workers can run it on values wherever they are
  // (Worker::call): Result f(Key, std::span<T> value, const Argument&), without the last parameter where
  // Argument is Nothing, and void where Result is Nothing; both are trivially copyable. Any thread of the
  // server may run f, several at a time, under the key's latch: it must not block and must not call the
  // server. Throws, on every rank: CollectiveMismatch when the ranks register differently,
  // ConfigurationError for a name that is taken or empty.
  template <Element T, class Argument = std::monostate, class Result = std::monostate, class F>
  Function<T, Argument, Result> register_function(std::string name, F f);

  // For interfaces to other languages: a function without its types, and which server it belongs to.
  const RegisteredFunction& register_function(RegisteredFunction function);
  const void* identity() const;

  // Each worker is a thread with a stack, memory for its operations and a part in each barrier, and waits for
  // its core: more than any host has are a mistake, which the system would answer by killing the job.
  static constexpr std::int32_t kMaxWorkers = 4096;

  // Collective. Runs f(worker) on `workers` threads of this rank, as many as each rank likes, 0 to
  // kMaxWorkers, at least one in all. UsageError otherwise (PeerFailed on the other ranks). Returns when all
  // workers of all ranks have returned and everything is quiet. When a worker throws, on any rank, every rank
  // throws PeerFailed with its text, and the server can only be asked for statistics and closed.
  // MpiStateError where MPI was initialised with MPI_THREAD_SINGLE.
  void run_workers(std::int32_t workers, const std::function<void(Worker&)>& f);

  // Collective. Runs several groups of workers at the same time (groups.hpp): each has its own collective
  // calls, its own failure and its own numbers of workers. `groups`: as many on every rank, each with a worker
  // on some rank. Returns when all workers have returned, with how each group has ended. A worker that throws
  // ends its group alone. Throws as run_workers.
  std::vector<GroupEnd> run_groups(std::span<const GroupPart> groups);

  // --- in place of run_workers, as each rank likes (docs/application-threads.md) ---

  // Collective. The calling thread is this rank's only worker. Its waits handle the messages of the rank;
  // while it computes, this rank answers no other, see progress().
  void run_here(const std::function<void(Worker&)>& f);
  // Collective. Begins a phase, in which threads of the application take `workers` places. A thread of the
  // server handles messages; with MPI_THREAD_FUNNELED the calling thread does, in progress() and where a
  // worker that it has attached waits.
  void start_progress(std::int32_t workers);
  // Collective. Ends this phase, as run_workers ends. UsageError, before anything happens, while a worker is
  // attached.
  void stop_progress();
  // For libraries on top of the server: what stop_progress() begins with. Throws what that would throw before
  // anything happens; else no thread attaches from then on.
  void end_attaching(std::string_view call);
  // Any thread, between start_progress and stop_progress. This thread takes a place, a given one or the first
  // that is free; the local index of the worker is its number. Collective calls of workers wait for all
  // places. UsageError where it is taken.
  [[nodiscard]] AttachedWorker attach(std::optional<std::size_t> place = {});
  // Within a phase: handles what messages have come. Where no thread of the server does, and nothing has
  // come, waits at most so long. UsageError by a thread that must not call MPI.
  void progress(std::chrono::microseconds wait = {});
  // For the application's own calls of MPI while workers run. UsageError as progress().
  [[nodiscard]] MpiCalls mpi_calls();

  // Collective. What all ranks have counted since the start.
  Statistics statistics();

  // Collective. For libraries on top of the server: what make() gives on every rank, by rank. Where it
  // throws, so does the rank, and the others throw PeerFailed.
  std::vector<std::string> exchange(std::string_view call, const std::function<std::string()>& make);
  // The same where make() may take long: it runs on a thread of its own, without MPI; ranks meet each second.
  std::vector<std::string> exchange_long(std::string_view call, const std::function<std::string()>& make);

  // Any thread. Asks the workers of all ranks to return early; JobControl makes something of it. Never rolled
  // back. Other ranks know within a phase soon, else in the next.
  void request_stop();
  // Any thread: whether some rank has asked.
  bool stop_requested() const;
  // Any thread: when workers of some rank have last worked in a phase, since that was known, or all ranks
  // have met between phases; accurate to some seconds. The clock's epoch: never. Where all wait for a rank
  // that has ended, this time stays; also while only threads compute that are detached, drive the server, or
  // are between phases.
  std::chrono::steady_clock::time_point last_work() const;

  // For libraries on top of the server, between phases: where this rank's wants of keys come from, what is
  // done about them, and when rounds of communication begin. Source and policy outlive the server.
  void manage(IntentSource& source, const ManagementPolicy& policy, const RoundTimes& times);

  // The same for what learns of these wants, and of all accesses, which are slower from then on.
  void observe(KeyObserver& observer);

  // Bytes of this rank; of what the ranks of a domain share, its part.
  struct MemoryUse {
    std::uint64_t words = 0;      // slot words of keys, and lengths where keys have their own
    std::uint64_t ownership = 0;  // owners of the keys whose home is this domain
    std::uint64_t slabs = 0;      // committed for values and the state of update rules
    std::uint64_t values = 0;     // used of the slabs: values and states of local keys
    std::uint64_t copies = 0;     // what copies of keys take beside their slots
    std::uint64_t buffers = 0;    // of a server: for messages, at most; once they have all been used
    // The values are within the slabs.
    std::uint64_t total() const { return words + ownership + slabs + copies + buffers; }
  };
  // Of a table, or of all tables and the server. Asked for between calls of run_workers. UsageError for a
  // table of another server.
  template <Element T>
  MemoryUse memory_use(const Table<T>& table) const {
    return memory_use(table.handle());
  }
  MemoryUse memory_use() const;
  // Not collective: what a table with these options would take when it is made, a sparse one with max_keys;
  // a key that comes to this rank later, or a copy, takes a further slot. Asks for the length and home of
  // each key, where functions give them. Throws as create_table does, but OutOfMemory.
  template <Element T>
  MemoryUse estimate_memory(const TableOptions& options) const {
    return estimate_memory(options, element_type<T>());
  }

  // Collective. Ends the server; proves that nothing is left in flight. Every later call throws ClosedError.
  void close();
  // The same. Returns what every rank has given, by rank: nothing where the destructor closes.
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
