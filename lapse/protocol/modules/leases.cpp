#include "lapse/protocol/modules/leases.hpp"

#include <cstring>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/protocol/key/lease_race.hpp"
#include "lapse/protocol/records/key_failure_records.hpp"

namespace lapse {

namespace {

// Null for a worker of another rank.
LeaseRequest* request_of(const LeaseAsker& asker) {
  return static_cast<LeaseRequest*>(asker.local);
}

}  // namespace

void Leases::handle_submission(Submission& submission) {
  auto& request = static_cast<LeaseRequest&>(submission);
  if (request.releasing) {
    release(request);
  } else {
    advance(request);
  }
}

void Leases::end_turn() {
  while (!turns_.empty()) {
    for (const LeaseTurns::Turn& turn : turns_.take()) {
      if (turn.failure) {
        fail(turn.asker, *turn.table, *turn.failure);
      } else if (LeaseRequest* request = request_of(turn.asker)) {
        if (turn.granted) ++request->granted;
        advance(*request);
      } else if (turn.granted || acquire(*turn.table, turn.key, turn.asker)) {
        send_grant(turn.asker, *turn.table, turn.key);
      }
    }
  }
}

void Leases::finish(LeaseRequest& request) {
  WorkerEndpoint& worker = *request.worker;
  request.finished.store(true, std::memory_order_release);
  worker.bell().ring();
}

void Leases::fail(LeaseRequest& request, const KeyFailure& failure) {
  request.failure = std::make_unique<KeyFailure>(failure);
  request.items.resize(request.granted);
  release(request);
}

void Leases::fail(const LeaseAsker& asker, const TableShard& table, const KeyFailure& failure) {
  if (LeaseRequest* request = request_of(asker)) {
    fail(*request, failure);
    return;
  }
  append_failure(outbox_, asker.rank,
                 FrameHeader::of(FrameKind::lease_refused, table.id().value(), asker.worker),
                 KeyFailureRecord{failure.key.value()}, failure);
}

void Leases::advance(LeaseRequest& request) {
  while (request.granted < request.items.size()) {
    TableShard& table = *request.items[request.granted].table;
    const Key key = request.items[request.granted].key;
    if (table.serves(key)) {
      const auto failure = failure_of(table.name(), key, registry_.self(), [&] {
        progress_role.assert_held();  // Called in place.
        table.ensure_exists(key);
      });
      if (failure) {
        fail(request, *failure);
        return;
      }
      if (!acquire(table, key, {&request, {}, 0})) return;
    } else if (!table.store().grant_lease(key)) {
      send(FrameKind::lease_request, table.serving_rank(key), table, key, request.worker->local_index(),
           nullptr);
      return;
    }
    ++request.granted;
  }
  finish(request);
}

bool Leases::acquire(TableShard& table, Key key, const LeaseAsker& asker) {
  bool has_it = false;
  bool is_refused = false;
  retry_while_leases_change([&]() LAPSE_REQUIRES(progress_role) {
    const Clock::time_point at = now();
    switch (acquisition(table.store().word(key).role())) {
      case Acquisition::here:
        has_it = table.store().grant_lease(key);
        break;
      case Acquisition::begin:
        if (const auto failure = relocation_.begin(table, key, {}, at)) {
          turns_.refused(asker, table, *failure);
          is_refused = true;
        }
        break;
      case Acquisition::remember:
        relocation_.localize(table, key, {}, at);
        break;
      case Acquisition::join:
        break;
    }
    if (has_it || is_refused) return true;
    const auto record = table.arrival_record(key, at);
    if (record) table.arrivals().queue(*record).push(asker, at);
    return record.has_value();
  });
  return has_it;
}

void Leases::release(LeaseRequest& request) {
  for (const LeaseRequest::Item& item : request.items) {
    const TableShard& table = *item.table;
    const Rank serving = table.serving_rank(item.key);
    const LeaseRequest::Copy* copy = request.copy(item);
    if (serving == registry_.self()) {
      release_key(*item.table, item.key);
    } else if (copy != nullptr || !item.table->store().release_lease(item.key)) {
      send(FrameKind::lease_release, serving, table, item.key, request.worker->local_index(),
           copy == nullptr ? nullptr : copy->content.data());
    }
  }
  finish(request);
}

void Leases::release_key(TableShard& table, Key key) {
  // If nothing is queued, only the slot word changes, like when the lessee ends its lease itself.
  if (table.store().release_lease(key)) return;
  const auto record = table.arrivals().find_leased(key);
  if (!record) throw ProtocolError("a leased key has lost its queue");
  relocation_.drain(table, key, *record, table.store().word(key).slot(), now());
}

// --- between the ranks of a domain ---

void Leases::send(FrameKind kind, Rank to, const TableShard& table, Key key, std::uint64_t worker,
                  const std::byte* content) {
  const std::size_t content_bytes = content == nullptr ? 0 : table.content_bytes(key);
  FrameHeader header = FrameHeader::of(kind, table.id().value(), worker);
  header.origin = registry_.self().value();
  header.record_bytes = static_cast<std::uint32_t>(sizeof(LeaseRecord) + padded_bytes(content_bytes));
  std::byte* const value = write_record(outbox_.append(to, header), LeaseRecord{key.value()});
  if (content != nullptr) std::memcpy(value, content, content_bytes);
}

void Leases::send_grant(const LeaseAsker& asker, const TableShard& table, Key key) {
  const std::byte* content = table.store().is_private(key) ? table.store().leased_content(key) : nullptr;
  send(FrameKind::lease_grant, asker.rank, table, key, asker.worker, content);
}

void Leases::handle_frame(Rank, const FrameHeader& header, const std::byte* records) {
  TableShard& table = registry_.table(header.table);
  const auto kind = static_cast<FrameKind>(header.kind);
  if (header.record_bytes < sizeof(LeaseRecord)) throw ProtocolError("a message about leases is too short");
  for (std::uint32_t i = 0; i < header.count; ++i, records += header.record_bytes) {
    if (kind == FrameKind::lease_grant) {
      take_grant(header, records);
      continue;
    }
    if (kind == FrameKind::lease_refused) {
      const KeyFailure failure = read_key_failure(table.name(), header, records);
      fail(waiting_request(header, {&table, failure.key}), failure);
      continue;
    }
    const Key key = Registry::served_key(table, read_record<LeaseRecord>(records).key);
    if (kind == FrameKind::lease_release) {
      take_release(table, key, header, records);
      continue;
    }
    const LeaseAsker asker{nullptr, registry_.rank(header.origin), header.operation};
    if (acquire(table, key, asker)) send_grant(asker, table, key);
  }
}

LeaseRequest& Leases::waiting_request(const FrameHeader& header, const LeaseRequest::Item& item) const {
  LeaseRequest& request = registry_.worker(header.operation).lease_request();
  if (request.finished.load(std::memory_order_relaxed) || request.releasing ||
      request.granted >= request.items.size() || request.items[request.granted] != item) {
    throw ProtocolError("an answer about a lease reaches a worker that does not wait for the key");
  }
  return request;
}

void Leases::take_grant(const FrameHeader& header, const std::byte* record) {
  TableShard& table = registry_.table(header.table);
  const auto head = read_record<LeaseRecord>(record);
  const LeaseRequest::Item item{&table, Key(head.key)};
  LeaseRequest& request = waiting_request(header, item);
  const std::size_t content_bytes = header.record_bytes - sizeof head;
  const SlotWord word = table.store().word(item.key);
  if (table.serves(item.key) || !word.leased() || word.slot().is_private != (content_bytes != 0))
    throw ProtocolError("a key is granted that is not leased, or without the content that only its rank has");
  if (content_bytes != 0) {
    if (content_bytes != padded_bytes(table.content_bytes(item.key)))
      throw ProtocolError("a key is leased with a content of a wrong length");
    request.copies.push_back({item, {record + sizeof head, record + header.record_bytes}});
  }
  ++request.granted;
  advance(request);
}

void Leases::take_release(TableShard& table, Key key, const FrameHeader& header, const std::byte* record) {
  const std::size_t content_bytes = header.record_bytes - sizeof(LeaseRecord);
  const SlotWord word = table.store().word(key);
  if (!word.leased() || (content_bytes != 0 && (!word.slot().is_private ||
                                                content_bytes != padded_bytes(table.content_bytes(key))))) {
    throw ProtocolError("the end of a lease does not fit the key");
  }
  if (content_bytes != 0) {
    std::memcpy(table.store().leased_content(key), record + sizeof(LeaseRecord), table.content_bytes(key));
  }
  release_key(table, key);
}

}  // namespace lapse
