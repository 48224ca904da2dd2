#include "lapse/ps/stalls/stall_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "lapse/directory/domain_map.hpp"
#include "lapse/protocol/table/table_shard.hpp"

namespace lapse {

namespace {

constexpr std::string_view kPage = "\n  what this means, and what to look at: docs/stalls.md";

// Only the first of many ranks or workers are named.
constexpr std::size_t kNamed = 8;

std::int64_t seconds(StallDuration waited) {
  return std::chrono::duration_cast<std::chrono::seconds>(waited).count();
}

std::string counted(std::uint64_t count, std::string_view one, std::string_view several) {
  return fmt::format("{} {}", count, count == 1 ? one : several);
}

std::string_view kind_name(const AwaitedKey& key) {
  if (!key.kind) return "lease";
  switch (*key.kind) {
    case OperationKind::pull:
      return "pull";
    case OperationKind::push:
      return "push";
    case OperationKind::set:
      return "set";
    case OperationKind::call:
      return "call";
    case OperationKind::pull_elements:
      return "pull of elements";
    case OperationKind::push_elements:
      return "push of elements";
    case OperationKind::localize:
      break;
  }
  return "localize";
}

// Names the silent serving ranks of the key in other domains: one of them may have to pass the key on.
std::string silent_holders(const AwaitedKey& key, std::span<const Rank> silent) {
  std::string text;
  const DomainMap& domains = key.table->definition().domains;
  for (const Rank rank : silent) {
    if (key.owner == domains.domain_of(rank)) continue;
    if (key.table->serving_rank(key.key, domains.domain_of(rank)) != rank) continue;
    fmt::format_to(std::back_inserter(text), "{}{}", text.empty() ? ", perhaps from rank " : " or ",
                   rank.value());
  }
  return text.empty() ? text : text + ", which does not answer";
}

// Describes which rank has the key, or will have it.
std::string holder_of(const AwaitedKey& key, std::span<const Rank> silent) {
  const std::int32_t home = key.home.value();
  if (!key.owner) return fmt::format("its home, rank {}, does not answer, so its owner is not known", home);
  const DomainMap& domains = key.table->definition().domains;
  const std::string owner =
      domains.members(*key.owner).size() == 1
          ? fmt::format("rank {}", key.owner_rank.value())
          : fmt::format("domain {}, served by rank {}", key.owner->value(), key.owner_rank.value());
  if (!key.at_owner) return fmt::format("owned by {}, which does not answer", owner);
  switch (key.at_owner->role) {
    case Role::arriving:
    case Role::upgrading:
      return fmt::format("on its way to {}{}", owner, silent_holders(key, silent));
    case Role::owner:
      return key.at_owner->leased ? fmt::format("leased by a worker of {}", owner)
                                  : fmt::format("owned by {}", owner);
    case Role::replica:
    case Role::awaiting:
    case Role::closing:
    case Role::absent:
      break;
  }
  return key.owner_rank == key.home ? fmt::format("at its home, {}, uninitialized", owner)
                                    : fmt::format("on its way from {}", owner);
}

// Describes the key's queue at that rank.
std::string queue_of(const KeyStanding& standing) {
  std::string text;
  const auto add = [&text](std::string_view what) { text.append(text.empty() ? "" : ", ").append(what); };
  if (standing.operations > 0) add(counted(standing.operations, "operation", "operations"));
  if (standing.requests > 0) add(counted(standing.requests, "lease request", "lease requests"));
  if (standing.instructed) add("the order to transfer it");
  if (text.empty() && standing.milliseconds == 0) return text;
  return fmt::format("; queued there: {}, for {:.1f} s", text.empty() ? "nothing" : text,
                     standing.milliseconds / 1000.0);
}

// Describes what the worker's own domain waits for before its replica of the key can be used or an operation
// can continue.
std::string copy_of(const AwaitedKey& key) {
  if (!key.here) return "";
  const std::int32_t rank = key.table->serving_rank(key.key).value();
  const std::string owner =
      key.here->copy_owner ? fmt::format("rank {}", key.here->copy_owner->value()) : "its owner";
  const double copy_seconds = key.here->copy_milliseconds / 1000.0;
  switch (key.here->role) {
    case Role::awaiting:
      return fmt::format("; rank {} asked {} for a copy {:.1f} s ago, which has not arrived", rank, owner,
                         copy_seconds);
    case Role::closing:
      return fmt::format("; rank {} gave its copy back to {} {:.1f} s ago, which has not acknowledged it",
                         rank, owner, copy_seconds);
    case Role::upgrading:
      return fmt::format("; rank {} has a copy of {:.1f} s ago, and has asked for the key{}", rank,
                         copy_seconds, queue_of(*key.here));
    case Role::replica:
      return fmt::format("; rank {} has a copy of {:.1f} s ago{}{}", rank, copy_seconds,
                         key.here->unanswered == Replica::Unanswered::nothing
                             ? ""
                             : fmt::format(", whose changes {} has not acknowledged", owner),
                         queue_of(*key.here));
    case Role::absent:
    case Role::arriving:
    case Role::owner:
      break;
  }
  return "";
}

std::string_view unsynced_text(Unsynced what) {
  switch (what) {
    case Unsynced::announcement:
      return "copies that it has asked for have not arrived";
    case Unsynced::change:
      return "changes of its copies are not acknowledged";
    case Unsynced::end:
      return "copies that it has given back are not acknowledged";
    case Unsynced::upgrade:
      return "keys that it has asked for, and has copies of, have not arrived";
    case Unsynced::arrival:
      return "keys are on their way to it, or are leased there";
    case Unsynced::leased_main:
      return "main copies are leased that have changed";
    case Unsynced::unsent_change:
      return "changes of its copies are not sent yet";
    case Unsynced::refresh:
      return "changes of its main copies are not sent yet";
    case Unsynced::wants:
      return "its next round finds keys that workers have begun or ceased to want";
    case Unsynced::credit:
    case Unsynced::sync:
    case Unsynced::nothing:
      break;
  }
  return "it does something else";
}

void add_unsynced(std::string& text, std::span<const UnsyncedRank> ranks) {
  const auto to = std::back_inserter(text);
  for (const UnsyncedRank& rank : ranks.first(std::min(kNamed, ranks.size()))) {
    const UnsyncedRecord& record = rank.record;
    const auto what = static_cast<Unsynced>(record.what);
    fmt::format_to(to, "\n  rank {} is not synced: ", rank.rank.value());
    if (what == Unsynced::sync) {
      fmt::format_to(to, "rank {} has not answered, or its refreshes have not arrived", record.peer);
      continue;
    }
    if (what == Unsynced::credit) {
      fmt::format_to(to, "rank {} has not handled the refreshes that it was sent", record.peer);
      continue;
    }
    text += unsynced_text(what);
    if (rank.table == nullptr) continue;
    fmt::format_to(to, ": key {} of table '{}'", record.key, rank.table->name());
    if (record.count > 1)
      fmt::format_to(to, " and {}", counted(record.count - 1, "further key", "further keys"));
    if (record.peer >= 0) {
      fmt::format_to(to, "; {} on rank {}; for {:.1f} s",
                     what == Unsynced::arrival ? "its home is" : "the owner was last", record.peer,
                     record.milliseconds / 1000.0);
    }
  }
  if (ranks.size() > kNamed)
    fmt::format_to(to, "\n  and {}", counted(ranks.size() - kNamed, "further rank", "further ranks"));
}

std::string_view activity_name(WorkerActivity activity) {
  switch (activity) {
    case WorkerActivity::application:
      return "it runs code of the application, and has not made this call";
    case WorkerActivity::operations:
      return "it waits for answers to a pull, a push or another operation of its own";
    case WorkerActivity::collective:
      return "it is about to";
    case WorkerActivity::returned:
      return "it has returned from its function";
    case WorkerActivity::clock:
      return "it waits for slower workers, as a table bounds the staleness";
    case WorkerActivity::detached:
      return "no thread of the application is attached in its place";
  }
  return "it does something else";
}

// Describes what a running rank does instead.
std::string_view state_text(const SeenRank& rank, std::string_view running) {
  return rank.state == ProcessState::runs ? running : process_state_name(rank.state);
}

void add_ranks(std::string& text, std::span<const SeenRank> ranks, std::string_view running) {
  for (const SeenRank& rank : ranks.first(std::min(kNamed, ranks.size()))) {
    fmt::format_to(std::back_inserter(text), "\n  {}{}{}: {}", rank.name,
                   rank.silent ? ", does not answer" : "",
                   rank.unstopped ? ", has not called stop_progress, and no thread is attached there" : "",
                   state_text(rank, running));
  }
  if (ranks.size() > kNamed)
    fmt::format_to(std::back_inserter(text), "\n  and {}",
                   counted(ranks.size() - kNamed, "further rank", "further ranks"));
  text += kPage;
}

// Of a worker whose clock is behind.
std::string_view activity_behind(WorkerActivity activity) {
  switch (activity) {
    case WorkerActivity::application:
      return "it runs code of the application, and has not called advance_clock";
    case WorkerActivity::collective:
      return "it waits in a collective call, such as a barrier: workers enter those at equal clocks";
    default:
      return activity_name(activity);
  }
}

void add_absent(std::string& text, const StallQuestion& answers) {
  const std::size_t named = std::min(kNamed, answers.absent.size());
  const auto to = std::back_inserter(text);
  for (const AbsentWorker& worker : std::span(answers.absent).first(named)) {
    fmt::format_to(to, "\n  worker {} on rank {} {}: {}", worker.worker, worker.rank.value(),
                   answers.level ? "is behind" : "has not arrived",
                   answers.level ? activity_behind(worker.activity) : activity_name(worker.activity));
  }
  if (const std::uint64_t further = answers.absent.size() - named + answers.further_absent)
    fmt::format_to(to, "\n  and {}", counted(further, "further worker", "further workers"));
}

}  // namespace

std::string stall_text(const WorkerStall& stall) {
  std::string text = fmt::format("worker {} on rank {} has waited for {} s for {}", stall.worker,
                                 stall.rank.value(), seconds(stall.waited), stall.what);
  const auto to = std::back_inserter(text);
  if (stall.operations > 0) {
    fmt::format_to(to, ": {} with {} {} unanswered", counted(stall.operations, "operation", "operations"),
                   counted(stall.keys, "key", "keys"), stall.operations == 1 ? "is" : "are");
  }
  if (stall.answers == nullptr) {
    fmt::format_to(
        to,
        "\n  no thread of rank {} has driven its engine meanwhile: code that the engine runs, or a "
        "latch for which it waits, holds it up",
        stall.rank.value());
  } else {
    for (const AwaitedKey& key : stall.answers->keys) {
      fmt::format_to(to, "\n  {} of key {} of table '{}': {}{}{}", kind_name(key), key.key.value(),
                     key.table->name(), holder_of(key, stall.answers->silent),
                     key.at_owner ? queue_of(*key.at_owner) : std::string(), copy_of(key));
    }
    if (stall.answers->further_keys > 0)
      fmt::format_to(to, "\n  and {}", counted(stall.answers->further_keys, "further key", "further keys"));
    add_absent(text, *stall.answers);
    // Before all workers have arrived, ranks need not be synced.
    if (stall.answers->absent.empty()) add_unsynced(text, stall.answers->unsynced);
  }
  add_ranks(
      text, stall.ranks,
      "runs, and its engine does not: code of the application that the engine calls holds it up, or it has "
      "no processor");
  return text;
}

std::string call_stall_text(Rank rank, StallDuration waited, std::string_view call,
                            std::span<const SeenRank> missing) {
  std::string text = fmt::format("rank {} has waited for {} s in {}; {} not arrived:", rank.value(),
                                 seconds(waited), call, missing.size() == 1 ? "has" : "have");
  add_ranks(
      text, missing,
      "runs, and has not made this call: it computes or waits before it, or has taken another way through "
      "the program");
  return text;
}

std::string latch_stall_text(Rank rank, StallDuration waited, Key key, std::string_view table,
                             std::span<const SeenRank> halted) {
  std::string text =
      fmt::format("a thread of rank {} has waited for {} s for the latch of key {} of table '{}'",
                  rank.value(), seconds(waited), key.value(), table);
  if (halted.empty()) {
    text +=
        ": every rank that shares it runs; perhaps code of the application does not return that runs under "
        "the latch";
  } else {
    text += "; not running:";
  }
  add_ranks(text, halted, "runs");
  return text;
}

std::string halted_stall_text(Rank rank, StallDuration waited, std::string_view where,
                              std::span<const SeenRank> halted) {
  std::string text = fmt::format("rank {} has waited for {} s {} for the other ranks:", rank.value(),
                                 seconds(waited), where);
  add_ranks(text, halted, "runs");
  return text;
}

}  // namespace lapse
