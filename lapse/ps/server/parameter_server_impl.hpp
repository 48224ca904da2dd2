// The implementation of a server, made of its parts.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "lapse/core/process/own_process.hpp"
#include "lapse/core/process/topology.hpp"
#include "lapse/ps/access/phase.hpp"
#include "lapse/ps/access/worker_group.hpp"
#include "lapse/ps/agreement/agreement.hpp"
#include "lapse/ps/attached_worker.hpp"
#include "lapse/ps/function.hpp"
#include "lapse/ps/groups.hpp"
#include "lapse/ps/mpi_calls.hpp"
#include "lapse/ps/parameter_server.hpp"
#include "lapse/ps/phase/attached_places.hpp"
#include "lapse/ps/phase/group_seats.hpp"
#include "lapse/ps/phase/phase_end_watch.hpp"
#include "lapse/ps/phase/seat_runner.hpp"
#include "lapse/ps/phase/slot_threads.hpp"
#include "lapse/ps/phase/thread_support.hpp"
#include "lapse/ps/stalls/stall_reports.hpp"
#include "lapse/ps/tables/table_maker.hpp"
#include "lapse/ps/trace/allocation_trace.hpp"

namespace lapse {

class RegionTrace;

class ParameterServer::Impl {
 public:
  // `problem`: why this rank has no options, or null. Throws it; the other ranks throw PeerFailed.
  Impl(std::unique_ptr<Transport> transport, const Options& options, const std::exception_ptr& problem,
       ThreadSupport threads);
  ~Impl();
  // The lock of the MPI that the transport uses.
  void set_mpi_lock(MpiLock& lock) { mpi_lock_ = &lock; }

  TableShard& create_table(const TableOptions& given, ElementType type);
  const RegisteredFunction& register_function(RegisteredFunction function);
  void run_workers(std::int32_t workers, const std::function<void(Worker&)>& f);
  std::vector<GroupEnd> run_groups(std::span<const GroupPart> groups);
  void run_here(const std::function<void(Worker&)>& f);
  void start_progress(std::int32_t workers);
  void stop_progress();
  void end_attaching(std::string_view call);
  AttachedWorker attach(std::optional<std::size_t> place);
  void progress(std::chrono::microseconds wait);
  MpiCalls mpi_calls();
  Statistics statistics();
  std::vector<std::string> exchange(std::string_view call, const std::function<std::string()>& make);
  void request_stop();
  bool stop_requested() const {
    process_.check("stop_requested");
    return protocol_.stop_requests().requested();
  }
  void manage(IntentSource& source, const ManagementPolicy& policy, const RoundTimes& times);
  void observe(KeyObserver& observer);
  MemoryUse memory_use() const;
  MemoryUse memory_use(const TableShard& table) const;
  MemoryUse estimate_memory(const TableOptions& options, ElementType type) const;
  std::vector<std::string> close(const std::string& last_words = {});

  Rank rank() const { return transport_->rank(); }
  std::int32_t ranks() const { return transport_->ranks(); }
  const Options& options() const { return options_; }
  std::vector<std::int32_t> hosts() const { return transport_->hosts(); }

  // Returns true in a child that fork has made since the server was made.
  bool is_left() const { return process_.is_left(); }
  // Throws unless the server is open, this thread may call MPI, and no workers run.
  void check_call(const char* call) const;

 private:
  static ProgressEngine::Settings engine_settings(const Options& options, Transport& transport,
                                                  ThreadSupport threads);

  void throw_if_closed(const char* call) const;
  void throw_if_running(const char* call) const;
  // Throws UsageError unless this thread may call MPI.
  void check_may_call_mpi(const char* call) const;
  // Determines whether ranks can share memory, and which ranks do.
  void choose_domains();
  // By the first server of a process: warns of ignored LAPSE_* variables, on the job's first process; and if
  // this process is the only one of its job although a launcher started several.
  void warn_of_environment();
  void meet_peers();
  // Waits until every rank has quiesced. Reports if a rank has ended or is stopped meanwhile.
  void end_phase();
  void begin_allocation_trace();
  void end_allocation_trace();
  void report_bulk_lane();
  void report_start();
  // Reports a stop request to the other ranks, once.
  void report_stop();
  // Like check_call; also throws if a worker has failed on a rank.
  void check_collective(const char* call) const;
  // The call by which this rank begins a phase.
  struct PhaseCall {
    const char* name;
    ThreadSupport needed = ThreadSupport::funneled;
    Levels::Groups groups = Levels::Groups::all_workers;
    std::size_t progress_threads = 1;  // threads that wait beside the workers
  };
  // Agrees on the number of workers of each rank, and starts the collectives of the phase.
  Phase agree_on_phase(const PhaseCall& call, std::int32_t workers);
  // Calls prepare(), runs work(slot, report) on the threads of the first `slots` slots, drives the engine
  // meanwhile, and ends the phase. If prepare throws, the phase fails on every rank, without work here. What
  // work throws ends the child that fork has made in it.
  void run_slots(std::size_t slots, const std::function<void()>& prepare,
                 const std::function<void(std::size_t slot, GroupFailureReport& report)>& work);
  // run_groups with slots.
  void run_controlled(std::int32_t slots, SlotControl& control);
  // Ends a child that fork has made in a worker's function, after the child has left that function on a
  // thread of the server.
  [[noreturn]] void end_child(const std::exception_ptr& failure) const noexcept;
  // Makes a step of a phase in progress that other ranks and workers wait for. If the step throws, the phase
  // fails on every rank, and the step is repeated; if it throws again, the job is aborted.
  void insist(const char* what, const std::function<void()>& step) noexcept;
  // Ends a phase whose workers have returned.
  void leave_phase();
  // The server's thread in a phase with threads of the application.
  void start_server_thread();
  void end_server_thread();
  // From now on workers may run.
  void begin_running();

  // constant
  const OwnProcess process_;
  Options options_;
  Logger logger_;
  std::unique_ptr<Transport> transport_;
  Topology topology_;
  DomainMap alone_;    // each rank by itself
  DomainMap domains_;  // of ranks that share the memory of dense tables
  Router router_;
  int exceptions_at_start_;
  ThreadSupport threads_;
  std::thread::id owner_ = std::this_thread::get_id();
  MpiLock* mpi_lock_ = nullptr;  // null if none is used
  // own rules
  std::unique_ptr<AllocationTrace> allocation_trace_;  // null: off; outlives the engine and the tables
  RankProtocol protocol_;
  ProgressEngine engine_;
  SyncBarrierCut sync_barrier_cut_;
  WorkerGroup all_workers_;
  SeatRunner runner_;
  StallReports stalls_;
  Agreement agreement_;
  PrivateRegionAllocator regions_;
  TableMaker maker_;
  SlotThreads threads_of_slots_;
  AttachedPlaces places_;
  PhaseEndWatch phase_end_watch_{stalls_, protocol_.stall_inquiry(), engine_};
  Submission stop_report_;
  std::atomic<bool> stop_reported_{false};
  // the owner's thread
  KeyObserver* observer_ = nullptr;
  std::optional<Phase> attached_phase_;  // of start_progress; constant while places_ is open
  std::thread server_thread_;            // in such a phase, if this rank has one
  std::atomic<bool> serving_{false};     // true until the server thread is to end
  GroupNumber groups_ = kAllWorkers;     // that have begun; equal on all ranks
  std::atomic<bool> running_{false};     // in a phase; read by any thread
  std::atomic<bool> closed_{false};      // read by any thread
  bool warned_of_sharing_ = false;
  std::shared_ptr<RegionTrace> trace_;  // null if tracing is off
};

}  // namespace lapse
