#include "lapse/protocol/leases.hpp"

#include <algorithm>
#include <cstring>

#include "lapse/core/error.hpp"
#include "lapse/protocol/table_state.hpp"
#include "lapse/protocol/user_code.hpp"
#include "lapse/protocol/worker_endpoint.hpp"

namespace lapse {

std::pair<std::uint32_t, std::uint64_t> LeaseRequest::order(const Item& item) {
  return {item.table->id.value(), item.key.value()};
}

LeaseRequest::Copy* LeaseRequest::copy(const Item& item) {
  if (copies.empty()) return nullptr;
  const auto found =
      std::ranges::lower_bound(copies, order(item), {}, [](const Copy& copy) { return order(copy.item); });
  return found != copies.end() && found->item == item ? &*found : nullptr;
}

std::byte* LeaseRequest::content(const Item& item) {
  Copy* const found = copy(item);
  return found != nullptr ? found->content.data() : item.table->store.leased_content(item.key);
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
    for (const Relocation::Resumed& resumed : relocation_.take_resumed()) {
      if (LeaseRequest* request = resumed.asker.local) {
        if (resumed.granted) ++request->granted;
        advance(*request);
      } else if (resumed.granted || acquire(*resumed.table, resumed.key, resumed.asker)) {
        send_grant(resumed.asker, *resumed.table, resumed.key);
      }
    }
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
    if (table.serves(key)) {
      run_user_code(table.name, key, context_.self_rank, [&] { table.ensure_exists(key); });
      if (!acquire(table, key, {&request, {}, 0})) return;
    } else if (!table.store.grant_lease(key)) {
      send(FrameKind::lease_request, table.serving_rank(key, table.self_domain()), table, key,
           request.worker->local_index(), nullptr);
      return;
    }
    ++request.granted;
  }
  finish(request);
}

bool Leases::acquire(TableState& table, Key key, const LeaseAsker& asker) {
  for (;;) {
    const Role role = table.store.word(key).role();
    if (role == Role::owner && table.store.grant_lease(key)) return true;
    const auto now = ArrivalTable::Clock::now();
    if (role != Role::owner && role != Role::arriving) relocation_.begin(table, key, {}, now);
    if (const auto place = table.waiting_place(key)) {
      table.arrivals.queue_lease(*place, asker, now);
      return false;
    }
    // The lease it would have waited for has just ended.
  }
}

void Leases::release(LeaseRequest& request) {
  for (const LeaseRequest::Item& item : request.items) {
    const TableState& table = *item.table;
    const Rank serving = table.serving_rank(item.key, table.self_domain());
    const LeaseRequest::Copy* copy = request.copy(item);
    if (serving == context_.self_rank) {
      release_key(*item.table, item.key);
    } else if (copy != nullptr || !item.table->store.release_lease(item.key)) {
      send(FrameKind::lease_release, serving, table, item.key, request.worker->local_index(),
           copy == nullptr ? nullptr : copy->content.data());
    }
  }
  finish(request);
}

void Leases::release_key(TableState& table, Key key) {
  // Nothing may have queued: then the holder could have done it alone.
  if (table.store.release_lease(key)) return;
  const auto found = table.lease_queues.find(key.value());
  if (found == table.lease_queues.end()) throw ProtocolError("a leased key has lost its queue");
  relocation_.work_off(table, key, found->second, table.store.word(key).slot(), ArrivalTable::Clock::now());
}

// --- between the ranks of a domain ---

void Leases::send(FrameKind kind, Rank to, const TableState& table, Key key, std::uint64_t worker,
                  const std::byte* content) {
  const std::size_t content_bytes = content == nullptr ? 0 : table.content_bytes(key);
  FrameHeader header;
  header.kind = static_cast<std::uint16_t>(kind);
  header.table = table.id.value();
  header.origin = context_.self_rank.value();
  header.operation = worker;
  header.record_bytes = static_cast<std::uint32_t>(sizeof(LeaseRecord) + padded_bytes(content_bytes));
  std::byte* record = context_.outbox.append(to, header);
  const LeaseRecord head{key.value()};
  std::memcpy(record, &head, sizeof head);
  if (content != nullptr) std::memcpy(record + sizeof head, content, content_bytes);
}

void Leases::send_grant(const LeaseAsker& asker, const TableState& table, Key key) {
  const std::byte* content = table.store.is_private(key) ? table.store.leased_content(key) : nullptr;
  send(FrameKind::lease_grant, asker.rank, table, key, asker.worker, content);
}

void Leases::handle_frame(Rank, const FrameHeader& header, const std::byte* records) {
  TableState& table = context_.table(header.table);
  const auto kind = static_cast<FrameKind>(header.kind);
  if (header.record_bytes < sizeof(LeaseRecord)) throw ProtocolError("a message about leases is too short");
  for (std::uint32_t i = 0; i < header.count; ++i, records += header.record_bytes) {
    if (kind == FrameKind::lease_grant) {
      take_grant(header, records);
      continue;
    }
    LeaseRecord record;
    std::memcpy(&record, records, sizeof record);
    const Key key = ProtocolContext::checked_key(table, record.key);
    if (kind == FrameKind::lease_release) {
      take_release(table, key, header, records);
      continue;
    }
    const LeaseAsker asker{nullptr, context_.checked_rank(header.origin), header.operation};
    if (acquire(table, key, asker)) send_grant(asker, table, key);
  }
}

void Leases::take_grant(const FrameHeader& header, const std::byte* record) {
  TableState& table = context_.table(header.table);
  LeaseRecord head;
  std::memcpy(&head, record, sizeof head);
  const LeaseRequest::Item item{&table, Key(head.key)};
  LeaseRequest* request = header.operation < context_.workers.size()
                              ? &context_.workers[header.operation]->lease_request()
                              : nullptr;
  if (request == nullptr || request->finished.load(std::memory_order_relaxed) || request->releasing ||
      request->granted >= request->items.size() || request->items[request->granted] != item) {
    throw ProtocolError("a key is leased to a worker that does not wait for it");
  }
  const std::size_t content_bytes = header.record_bytes - sizeof head;
  if (content_bytes != 0) {
    if (content_bytes != padded_bytes(table.content_bytes(item.key)))
      throw ProtocolError("a key is leased with a content of a wrong length");
    request->copies.push_back({item, {record + sizeof head, record + header.record_bytes}});
  }
  ++request->granted;
  advance(*request);
}

void Leases::take_release(TableState& table, Key key, const FrameHeader& header, const std::byte* record) {
  const std::size_t content_bytes = header.record_bytes - sizeof(LeaseRecord);
  const SlotWord word = table.store.word(key);
  if (!word.leased() || (content_bytes != 0 && (!word.slot().is_private ||
                                                content_bytes != padded_bytes(table.content_bytes(key))))) {
    throw ProtocolError("the end of a lease does not fit the key");
  }
  if (content_bytes != 0) {
    std::memcpy(table.store.leased_content(key), record + sizeof(LeaseRecord), table.content_bytes(key));
  }
  release_key(table, key);
}

}  // namespace lapse
