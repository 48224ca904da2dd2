#include "lapse/protocol/leases.hpp"

#include "lapse/core/error.hpp"
#include "lapse/protocol/table_state.hpp"
#include "lapse/protocol/user_code.hpp"
#include "lapse/protocol/worker_endpoint.hpp"

namespace lapse {

std::pair<std::uint32_t, std::uint64_t> LeaseRequest::order(const Item& item) {
  return {item.table->id.value(), item.key.value()};
}

void Leases::handle_submission(Submission& submission) {
  auto& request = static_cast<LeaseRequest&>(submission);
  if (request.releasing) {
    release(request);
  } else {
    advance(request);
  }
}

void Leases::resume() {
  while (relocation_.has_resumed()) {
    for (LeaseRequest* request : relocation_.take_resumed()) advance(*request);
  }
}

void Leases::finish(LeaseRequest& request) {
  WorkerEndpoint& worker = *request.worker;
  request.finished.store(true, std::memory_order_release);
  worker.bell().ring();
}

void Leases::advance(LeaseRequest& request) {
  try {
    grant(request);
  } catch (const UserCodeFailed&) {
    fail(request);
  } catch (const OutOfMemory&) {
    fail(request);
  }
}

void Leases::fail(LeaseRequest& request) {
  request.failure = std::current_exception();
  request.items.resize(request.granted);
  release(request);
}

void Leases::grant(LeaseRequest& request) {
  while (request.granted < request.items.size()) {
    TableState& table = *request.items[request.granted].table;
    const Key key = request.items[request.granted].key;
    run_user_code(table.name, key, self_, [&] { table.ensure_exists(key); });
    const SlotWord word = table.store.word(key);
    if (word.role() == Role::owner && table.store.grant_lease(key)) {
      ++request.granted;
      continue;
    }
    const auto now = ArrivalTable::Clock::now();
    if (word.role() != Role::owner && word.role() != Role::arriving)
      relocation_.begin(table, key, nullptr, now);
    const auto place = table.waiting_place(key);
    if (!place) continue;  // The lease it would have waited for has just ended.
    table.arrivals.queue_lease(*place, request, now);
    return;
  }
  finish(request);
}

void Leases::release(LeaseRequest& request) {
  const auto now = ArrivalTable::Clock::now();
  for (const LeaseRequest::Item& item : request.items) {
    TableState& table = *item.table;
    // Nothing may have queued: then the holder could have done it alone.
    if (table.store.release_lease(item.key)) continue;
    const auto found = table.lease_queues.find(item.key.value());
    if (found == table.lease_queues.end()) throw ProtocolError("a leased key has lost its queue");
    relocation_.work_off(table, item.key, found->second, table.store.word(item.key).low(), now);
  }
  finish(request);
}

}  // namespace lapse
