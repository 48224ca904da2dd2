// Servers and phases of the C interface.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "lapse/c/handles.hpp"
#include "lapse/core/hooks.hpp"
#include "lapse/core/mutex.hpp"
#include "lapse/core/option_sources.hpp"
#include "lapse/core/statistics.hpp"
#include "lapse/core/tracing/trace_notes.hpp"
#include "lapse/ps/mpi_calls.hpp"
#include "lapse/transport/mpi/environment.hpp"
#include "lapse/transport/mpi/library/library_of_build.hpp"
#include "lapse/transport/mpi/library/shared_options_file.hpp"

namespace {

using lapse::UsageError;
using lapse::c::given;
using lapse::c::guarded;

lapse::OptionSources sources_of(MPI_Comm communicator, const lapse_option* options, std::size_t count) {
  std::vector<lapse::OptionSetting> settings;
  for (std::size_t i = 0; i < count; ++i) {
    const lapse_option& option = given(options + (options == nullptr ? 0 : i), "options");
    settings.push_back(
        lapse::option_assignment(fmt::format("{}={}", &given(option.name, "the name of an option"),
                                             &given(option.value, "the value of an option")),
                                 "the options of the call"));
  }
  return lapse::OptionSources(lapse::shared_options_file(communicator).settings(), std::move(settings));
}

lapse_status create(MPI_Comm communicator, const lapse_option* options, std::size_t count, bool managed,
                    lapse_server** server) {
  return guarded([&] {
    given(server, "server");
    const lapse::OptionSources sources = sources_of(communicator, options, count);
    auto made = std::make_unique<lapse_server>();
    if (managed) {
      made->manager = std::make_unique<adapm::ParameterManager>(communicator, sources);
    } else {
      made->own = std::make_unique<lapse::ParameterServer>(communicator, sources);
    }
    *server = made.release();
  });
}

// The hooks set through C; each call sets some of them.
struct HooksOfC {
  lapse::Mutex mutex;
  lapse::Hooks hooks LAPSE_GUARDED_BY(mutex) = {};
};

template <class Change>
void change_hooks(Change&& change) {
  static HooksOfC set;
  const lapse::MutexLock guard(set.mutex);
  change(set.hooks);
  lapse::set_hooks(set.hooks);
}

// A communicator number of another MPI library cannot be converted.
lapse_status create_fortran(MPI_Fint communicator, const lapse_option* options, std::size_t count,
                            bool managed, lapse_server** server) {
  MPI_Comm converted{};
  const lapse_status usable = guarded([&] {
    lapse::require_usable_library();
    converted = MPI_Comm_f2c(communicator);
    // Open MPI returns this for a number that is no communicator.
    if (converted == MPI_Comm{})
      throw UsageError(fmt::format("{} is no communicator of Fortran", communicator));
  });
  return usable == LAPSE_OK ? create(converted, options, count, managed, server) : usable;
}

// Runs the application's function as a worker.
template <class W>
void work(lapse_server& server, W& worker, lapse_worker_function function, void* context) {
  lapse_worker handle(server.handles);
  handle.worker = &worker;
  if constexpr (std::is_same_v<W, adapm::IntentWorker>) handle.managed = &worker;
  const lapse::c::CheckedWorker checked;
  checked.check(function(&handle, context));
}

template <class Run>
lapse_status phase(lapse_server* server, lapse_worker_function function, void* context, Run&& run) {
  return guarded([&] {
    lapse_server& given_server = given(server, "server");
    if (function == nullptr) throw UsageError("function is NULL");
    const auto f = [&](auto& worker) { work(given_server, worker, function, context); };
    given_server.manager ? run(*given_server.manager, f) : run(*given_server.own, f);
  });
}

// Ends a worker of lapse_attach by end(attached), and frees its handle.
template <class End>
lapse_status end_attached(lapse_worker* worker, const char* call, End&& end) {
  return guarded([&] {
    if (!given(worker, "worker").attached)
      throw UsageError(fmt::format("{} of a worker that was not attached", call));
    const std::unique_ptr<lapse_worker> ended(worker);
    std::visit(end, *ended->attached);
  });
}

// "2 operations, 1 of checkpoints"; empty: none.
std::string left_handles(const lapse::c::HandleCounts& handles) {
  std::string text;
  const auto add = [&text](const std::atomic<std::size_t>& count, const char* kind) {
    if (const std::size_t left = count.load(std::memory_order_acquire); left > 0)
      text += fmt::format("{}{} of lapse_{}", text.empty() ? "" : ", ", left, kind);
  };
  add(handles.workers, "worker");
  add(handles.operations, "operation");
  add(handles.leases, "lease");
  add(handles.samples, "sample");
  add(handles.checkpoints, "checkpoints");
  add(handles.jobs, "job");
  return text;
}

}  // namespace

lapse_status lapse_prepare_mpi() {
  return guarded([] { lapse::prepare_mpi_environment(); });
}

lapse_status lapse_server_create(MPI_Comm communicator, const lapse_option* options, size_t count,
                                 lapse_server** server) {
  return create(communicator, options, count, false, server);
}
lapse_status lapse_manager_create(MPI_Comm communicator, const lapse_option* options, size_t count,
                                  lapse_server** server) {
  return create(communicator, options, count, true, server);
}
lapse_status lapse_server_create_fortran(MPI_Fint communicator, const lapse_option* options, size_t count,
                                         lapse_server** server) {
  return create_fortran(communicator, options, count, false, server);
}
lapse_status lapse_manager_create_fortran(MPI_Fint communicator, const lapse_option* options, size_t count,
                                          lapse_server** server) {
  return create_fortran(communicator, options, count, true, server);
}

lapse_status lapse_server_close(lapse_server* server) {
  return guarded([&] {
    lapse_server& closing = given(server, "server");
    closing.manager ? closing.manager->close() : closing.own->close();
    closing.closed = true;
  });
}

lapse_status lapse_server_free(lapse_server* server) {
  return guarded([&] {
    if (server == nullptr) return;
    if (!server->closed) throw UsageError("lapse_server_free before lapse_server_close");
    if (const std::string left = left_handles(server->handles); !left.empty())
      throw UsageError(fmt::format("lapse_server_free while these of the server are not freed: {}", left));
    const std::unique_ptr<lapse_server> freed(server);
  });
}

lapse_status lapse_server_rank(const lapse_server* server, int32_t* rank, int32_t* ranks) {
  return guarded([&] {
    const lapse::ParameterServer& asked = given(server, "server").server();
    if (rank != nullptr) *rank = asked.rank().value();
    if (ranks != nullptr) *ranks = asked.ranks();
  });
}

lapse_status lapse_statistics_json(lapse_server* server, char** json) {
  return guarded([&] {
    lapse_server& asked = given(server, "server");
    given(json, "json");
    const std::string text =
        asked.manager ? asked.manager->statistics().to_json() : asked.own->statistics().to_json();
    auto copy = std::make_unique<char[]>(text.size() + 1);
    std::memcpy(copy.get(), text.c_str(), text.size() + 1);
    *json = copy.release();
  });
}

lapse_status lapse_memory_use(const lapse_server* server, uint64_t* bytes) {
  return guarded([&] { given(bytes, "bytes") = given(server, "server").server().memory_use().total(); });
}

lapse_status lapse_server_hosts(const lapse_server* server, int32_t* hosts, size_t count) {
  return guarded([&] {
    const std::vector<std::int32_t> known = given(server, "server").server().hosts();
    given(hosts, "hosts");
    if (count != known.size())
      throw UsageError(fmt::format("hosts of {} ranks: expected {}", count, known.size()));
    std::ranges::copy(known, hosts);
  });
}

lapse_status lapse_request_stop(lapse_server* server) {
  return guarded([&] { given(server, "server").server().request_stop(); });
}
lapse_status lapse_stop_requested(const lapse_server* server, int* requested) {
  return guarded(
      [&] { given(requested, "requested") = given(server, "server").server().stop_requested() ? 1 : 0; });
}

void lapse_free(void* memory) {
  const std::unique_ptr<char[]> freed(static_cast<char*>(memory));
}

lapse_status lapse_set_hooks(void (*log)(void* context, int level, int32_t rank, const char* message),
                             void (*fatal)(void* context, int32_t rank, const char* reason), void* context) {
  return guarded([&] {
    change_hooks([&](lapse::Hooks& set) {
      set.log = nullptr;
      set.fatal = nullptr;
      if (log != nullptr) {
        set.log = [log, context](lapse::LogLevel level, lapse::Rank rank, std::string_view message) {
          log(context, static_cast<int>(level), rank.value(), std::string(message).c_str());
        };
      }
      if (fatal != nullptr) {
        set.fatal = [fatal, context](lapse::Rank rank, std::string_view reason) {
          fatal(context, rank.value(), std::string(reason).c_str());
        };
      }
    });
  });
}

lapse_status lapse_set_region_hooks(void (*begin)(void* context, const char* name),
                                    void (*end)(void* context, const char* name), void* context) {
  return guarded([&] {
    change_hooks([&](lapse::Hooks& set) {
      set.begin_region = nullptr;
      set.end_region = nullptr;
      if (begin != nullptr) set.begin_region = [begin, context](const char* name) { begin(context, name); };
      if (end != nullptr) set.end_region = [end, context](const char* name) { end(context, name); };
    });
  });
}

// --- traces

lapse_status lapse_trace_band(const char* name, double seconds) {
  return guarded([&] {
    lapse::trace_band(&given(name, "name"), lapse::seconds_ago(seconds), std::chrono::steady_clock::now());
  });
}

lapse_status lapse_trace_note(const char* name, const char* value) {
  return guarded([&] { lapse::trace_note(&given(name, "name"), &given(value, "value")); });
}

// --- phases

lapse_status lapse_run_workers(lapse_server* server, int32_t workers, lapse_worker_function function,
                               void* context) {
  return phase(server, function, context,
               [&](auto& runner, const auto& f) { runner.run_workers(workers, f); });
}

lapse_status lapse_run_here(lapse_server* server, lapse_worker_function function, void* context) {
  return phase(server, function, context, [](auto& runner, const auto& f) { runner.run_here(f); });
}

lapse_status lapse_start_progress(lapse_server* server, int32_t workers) {
  return guarded([&] {
    lapse_server& starting = given(server, "server");
    starting.manager ? starting.manager->start_progress(workers) : starting.own->start_progress(workers);
  });
}

lapse_status lapse_stop_progress(lapse_server* server) {
  return guarded([&] {
    lapse_server& stopping = given(server, "server");
    stopping.manager ? stopping.manager->stop_progress() : stopping.own->stop_progress();
  });
}

lapse_status lapse_attach(lapse_server* server, int32_t place, lapse_worker** worker) {
  return guarded([&] {
    lapse_server& attaching = given(server, "server");
    given(worker, "worker");
    const auto wanted = place < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(place));
    auto made = std::make_unique<lapse_worker>(attaching.handles);
    made->counted.emplace(attaching.handles.workers);
    if (attaching.manager) {
      made->attached.emplace(attaching.manager->attach(wanted));
      made->managed = &*std::get<adapm::AttachedIntentWorker>(*made->attached);
    } else {
      made->attached.emplace(attaching.own->attach(wanted));
    }
    made->worker = std::visit([](auto& attached) -> lapse::Worker* { return &*attached; }, *made->attached);
    *worker = made.release();
  });
}

lapse_status lapse_detach(lapse_worker* worker) {
  return end_attached(worker, "lapse_detach", [](auto& attached) { attached.detach(); });
}

lapse_status lapse_detach_failed(lapse_worker* worker, const char* reason) {
  return end_attached(worker, "lapse_detach_failed", [&](auto& attached) {
    attached.fail(std::make_exception_ptr(lapse::Error(reason == nullptr ? lapse_last_error() : reason)));
  });
}

lapse_status lapse_progress(lapse_server* server, int64_t microseconds) {
  return guarded([&] { given(server, "server").server().progress(std::chrono::microseconds(microseconds)); });
}

lapse_status lapse_mpi_lock(lapse_server* server) {
  return guarded([&] {
    lapse_server& locking = given(server, "server");
    lapse::MpiCalls calls = locking.server().mpi_calls();
    locking.mpi_calls.emplace(std::move(calls));  // The lock is held: no other thread runs this.
  });
}

lapse_status lapse_mpi_unlock(lapse_server* server) {
  return guarded([&] {
    lapse_server& locked = given(server, "server");
    if (!locked.mpi_calls) throw UsageError("lapse_mpi_unlock without lapse_mpi_lock");
    const lapse::MpiCalls calls = std::move(*locked.mpi_calls);
    locked.mpi_calls.reset();
  });
}
