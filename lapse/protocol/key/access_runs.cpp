// Access: operations on many keys, in runs of keys that take the same route.
#include <bit>
#include <cstring>
#include <new>
#include <type_traits>

#include "lapse/core/error.hpp"
#include "lapse/protocol/key/access.hpp"
#include "lapse/protocol/key/answered_items.hpp"
#include "lapse/store/push_run.hpp"

namespace lapse {

namespace {

constexpr FrameKind run_kind(OperationKind kind) {
  return kind == OperationKind::pull   ? FrameKind::pull_run
         : kind == OperationKind::push ? FrameKind::push_run
                                       : FrameKind::set_run;
}
constexpr OperationKind run_operation(FrameKind kind) {
  return kind == FrameKind::pull_run   ? OperationKind::pull
         : kind == FrameKind::push_run ? OperationKind::push
                                       : OperationKind::set;
}
constexpr bool is_pull_answer(FrameKind kind) {
  return kind == FrameKind::pull_run_answer;
}

}  // namespace

// --- requester

bool Access::may_run(const OperationState& operation) const {
  return operation.kind != OperationKind::call && !is_on_elements(operation.kind) &&
         operation.table->sizes().uniform() && !operation.holdable && router_.routes_runs();
}

void Access::answer_unsent(OperationState& operation) {
  AnsweredItems answered(*this, operation);
  for (OperationState::Item& item : std::span(operation.items).subspan(piece_.first_item)) {
    // A route may have been chosen already.
    if (item.in_flight()) {
      answered.add(item, item.sent_to);
    } else {
      answered.add_executed(item);
    }
  }
}

bool Access::send_piece(OperationState& operation) {
  try {
    routes_.end(operation);
  } catch (const std::bad_alloc&) {
    operation.fail_without_memory(operation.items[piece_.first_item].key, registry_.self());
    answer_unsent(operation);
    return false;
  }
  for (const RunRoutes::Bucket& bucket : routes_.buckets()) send_run(operation, bucket);
  // The operation may be finished, and freed, with its last item.
  for (const std::uint32_t item : routes_.others()) submit_item(operation, item);
  return true;
}

void Access::send_run(OperationState& operation, const RunRoutes::Bucket& bucket) {
  TableShard& table = *operation.table;
  const bool pull = operation.kind == OperationKind::pull;
  const std::size_t value_bytes = pull ? 0 : table.sizes().layout().value_bytes();
  const std::uint32_t length = static_cast<std::uint32_t>(table.sizes().layout().length);
  TableCounters& counters = operation.table->counters();
  (pull ? counters.remote_pulls : counters.remote_pushes) += bucket.end - bucket.begin;
  count_remote(operation);
  FrameHeader header = FrameHeader::of(run_kind(operation.kind), table.id().value(), operation.number);
  header.flags = bucket.by_home ? FrameHeader::kByHome : std::uint16_t{0};
  header.record_bytes = static_cast<std::uint32_t>(sizeof(std::uint64_t) + value_bytes);
  if (operation.kind == OperationKind::push) header.origin = std::bit_cast<std::int32_t>(operation.scale);
  OperationState::Item* const items = operation.items.data();
  const std::uint32_t* const order = operation.reordered ? operation.order.data() : nullptr;
  const auto item_at = [&](std::uint32_t position) -> OperationState::Item& {
    return items[order == nullptr ? position : order[position]];
  };
  // In the order of the call, the updates are one block.
  const auto fill = pull || order != nullptr ? Outbox::Fill::records : Outbox::Fill::blocks;
  const bool leaves = table.definition().domains.domain_of(bucket.to) != table.self_domain();
  if (leaves) {
    sample_remote(operation, bucket.end - bucket.begin,
                  [&](std::uint32_t i) { return item_at(bucket.begin + i).key; });
  }
  for (std::uint32_t at = bucket.begin; at < bucket.end;) {
    header.domain = static_cast<std::int32_t>(at);
    const Outbox::Run run = outbox_.append_run(bucket.to, header, bucket.end - at, fill);
    std::byte* key = run.records;
    for (std::uint32_t i = 0; i < run.count; ++i) key = write_record(key, item_at(at + i).key.value());
    if (!pull) {
      const OperationState::Item& first = item_at(at);
      const OperationState::Item& last = item_at(at + run.count - 1);
      if (last.payload_offset - first.payload_offset == (run.count - 1) * length) {
        std::memcpy(key, operation.update(first), run.count * value_bytes);
      } else {
        for (std::uint32_t i = 0; i < run.count; ++i, key += value_bytes)
          std::memcpy(key, operation.update(item_at(at + i)), value_bytes);
      }
    }
    for (std::uint32_t i = 0; leaves && table.accessed() != nullptr && i < run.count; ++i)
      note_access(table, item_at(at + i).key);
    at += run.count;
  }
}

void Access::count_remote(const OperationState& operation, Key key, std::uint64_t weight) {
  TableShard& table = *operation.table;
  const KeyView view = table.view(key);
  const bool wanted = wants_->is_wanted(table.id(), key);
  const bool refused = table.copies() != nullptr && table.copies()->is_refused(key);
  // Whether another rank of the domain has asked for a key that it serves is not known here.
  source_->count_remote({.table = table.id(),
                         .key = key,
                         .worker = operation.worker->local_index(),
                         .wanted = wanted,
                         .asked = wanted && !refused && (!view.serves || !view.is_absent()),
                         .copied = view.direct == DirectAccess::copy,
                         .weight = weight});
}

void Access::handle_run_answers(const FrameHeader& header, const std::byte* records) {
  const TableShard& table = registry_.table(header.table);
  OperationState& operation = registry_.operation(header.operation);
  const bool pull = is_pull_answer(static_cast<FrameKind>(header.kind));
  const bool fits = pull ? operation.kind == OperationKind::pull
                         : operation.kind == OperationKind::push || operation.kind == OperationKind::set;
  const std::size_t bytes = pull ? table.sizes().layout().value_bytes() : 0;
  const std::size_t version_bytes = table.store().may_have_copies() ? sizeof(std::uint64_t) : 0;
  const std::size_t positions = operation.positions();
  const auto first = static_cast<std::uint32_t>(header.origin);
  if (!fits || operation.table != &table || !table.sizes().uniform() ||
      header.record_bytes != bytes + version_bytes || header.domain < 0 ||
      header.domain >= table.definition().domains.domains() ||
      header.count > operation.remaining.load(std::memory_order_relaxed) || first > positions ||
      header.count > positions - first) {
    throw ProtocolError("an answer does not fit the operation it names");
  }
  const std::uint32_t* const order = operation.reordered ? operation.order.data() + first : nullptr;
  OperationState::Item* const items = operation.items.data() + (order == nullptr ? first : 0);
  const auto item_at = [items, order](std::uint32_t i) -> OperationState::Item& {
    return items[order == nullptr ? i : order[i]];
  };
  const std::byte* const versions = records + header.count * bytes;
  AnsweredItems answered(*this, operation);
  // One pass, with as little work per item as possible: it is a part of the cost of a batch.
  const std::uint32_t count = header.count;
  const Domain responder(header.domain);
  const auto mark = [&, item_at, count, responder](auto with_versions) LAPSE_REQUIRES(progress_role) {
    bool any_pinned = false;
    for (std::uint32_t i = 0; i < count; ++i) {
      OperationState::Item& item = item_at(i);
      if (!item.in_flight()) [[unlikely]] {
        answered.roll_back(i, item_at);
        throw ProtocolError("an answer names a key that was not asked for");
      }
      if constexpr (with_versions) {
        try {
          note_version(operation, item.key, read_record<std::uint64_t>(versions + i * sizeof(std::uint64_t)));
        } catch (...) {
          answered.roll_back(i, item_at);
          throw;
        }
      }
      any_pinned |= answered.mark(item, responder);
    }
    return any_pinned;
  };
  const bool any_pinned = version_bytes == 0 ? mark(std::false_type()) : mark(std::true_type());
  if (pull && operation.destination != nullptr) {
    const std::size_t length = table.sizes().layout().length;
    if (item_at(header.count - 1).offset - item_at(0).offset == (header.count - 1) * length) {
      std::memcpy(operation.row(item_at(0)), records, header.count * bytes);
    } else {
      for (std::uint32_t i = 0; i < header.count; ++i, records += bytes)
        std::memcpy(operation.row(item_at(i)), records, bytes);
    }
  }
  if (!any_pinned) [[likely]]
    return;
  for (std::uint32_t i = 0; i < count; ++i) answered.finish(item_at(i), responder);
}

// --- target

void Access::handle_run(Rank from, const FrameHeader& header, const std::byte* records) {
  TableShard& table = registry_.table(header.table);
  OperationPart part;
  part.kind = run_operation(static_cast<FrameKind>(header.kind));
  part.origin = from;
  part.operation = header.operation;
  if (part.kind == OperationKind::push) part.scale = std::bit_cast<float>(header.origin);
  const std::size_t value_bytes = part.kind == OperationKind::pull ? 0 : table.sizes().layout().value_bytes();
  if (!table.sizes().uniform() || header.record_bytes != sizeof(std::uint64_t) + value_bytes ||
      header.domain < 0 || header.count > OperationState::kIndexBit ||
      static_cast<std::uint32_t>(header.domain) > OperationState::kIndexBit - header.count) {
    throw ProtocolError("a message holds a run of operations of a wrong length");
  }
  // The bytes begin at a multiple of 8. From now on, they are read as keys of this process.
  static_assert(sizeof(Key) == sizeof(std::uint64_t) && std::is_trivially_copyable_v<Key>);
  const std::span keys(reinterpret_cast<const Key*>(records), header.count);
  for (const Key key : keys) static_cast<void>(Registry::served_key(table, key.value()));
  const bool by_home = (header.flags & FrameHeader::kByHome) != 0;
  const std::byte* const values = records + keys.size_bytes();
  for (std::uint32_t at = 0; at < header.count;) {
    part.item = static_cast<std::uint32_t>(header.domain) + at;
    part.value = value_bytes == 0 ? nullptr : values + at * value_bytes;
    at += execute_run(table, part, keys.subspan(at));
    if (at == header.count) break;
    part.key = keys[at];
    part.item = static_cast<std::uint32_t>(header.domain) + at;
    part.value = value_bytes == 0 ? nullptr : values + at * value_bytes;
    take(table, part, by_home);
    ++at;
  }
}

std::uint32_t Access::execute_run(TableShard& table, const OperationPart& first, std::span<const Key> keys) {
  const UpdateKernel& rule = table.definition().rule;
  const bool pull = first.kind == OperationKind::pull;
  // Application code may throw, so each key is executed by itself.
  if (!pull && rule.kind() == UpdateRuleKind::custom) return 0;
  const ValueLayout& layout = table.sizes().layout();
  const std::size_t bytes = layout.value_bytes();
  FrameHeader header = FrameHeader::of(pull ? FrameKind::pull_run_answer : FrameKind::push_run_answer,
                                       table.id().value(), first.operation);
  const bool has_versions = table.store().may_have_copies();
  header.record_bytes =
      static_cast<std::uint32_t>((pull ? bytes : 0) + (has_versions ? sizeof(std::uint64_t) : 0));
  // After the values, in one block.
  const auto write_versions = [&](std::byte* to, std::span<const Key> of) {
    for (const Key key : of) to = write_record(to, table.store().main_version(key));
  };
  header.domain = table.self_domain().value();
  std::size_t done = 0;
  if (pull) {
    for (bool all = true; all && done < keys.size();) {
      header.origin = static_cast<std::int32_t>(first.item + done);
      const Outbox::Run run =
          outbox_.append_run(first.origin, header, static_cast<std::uint32_t>(keys.size() - done));
      const std::size_t read =
          table.store().read_run<Store::Reach::main>(keys.subspan(done, run.count), run.records).keys;
      all = read == run.count;
      if (!all) outbox_.cancel(run.count - static_cast<std::uint32_t>(read));
      if (has_versions) write_versions(run.records + read * bytes, keys.subspan(done, read));
      done += read;
    }
    return static_cast<std::uint32_t>(done);
  }
  if (first.kind == OperationKind::push) {
    done = push_run(table.store(), rule, keys, Store::Reach::main, first.value, first.scale).keys;
  } else {
    done = table.store()
               .update_run(keys, Store::Reach::main,
                           [&](std::size_t i, std::byte* slot) {
                             std::memcpy(slot, first.value + i * bytes, bytes);
                             rule.initialise(slot, layout.length);
                           })
               .keys;
  }
  for (std::size_t at = 0; at < done;) {
    header.origin = static_cast<std::int32_t>(first.item + at);
    const Outbox::Run run = outbox_.append_run(first.origin, header, static_cast<std::uint32_t>(done - at));
    if (has_versions) write_versions(run.records, keys.subspan(at, run.count));
    at += run.count;
  }
  return static_cast<std::uint32_t>(done);
}

}  // namespace lapse
