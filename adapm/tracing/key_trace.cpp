#include "adapm/tracing/key_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/core/statistics/json.hpp"
#include "lapse/protocol/table/table_shard.hpp"

namespace adapm {

using lapse::Key;
using lapse::Role;

namespace {
constexpr std::size_t kBufferBytes = std::size_t{1} << 16;
}  // namespace

std::string_view role_change_name(Role before, Role after) {
  switch (after) {
    case Role::arriving:
      return before == Role::upgrading ? "copy_merged" : "key_requested";
    case Role::upgrading:
      return "key_requested";
    case Role::awaiting:
      return "copy_requested";
    case Role::owner:
      return before == Role::absent ? "key_made" : "key_arrived";
    case Role::replica:
      return before == Role::awaiting ? "copy_set_up" : "key_left_copy_stays";
    case Role::closing:
      return "copy_dropped";
    case Role::absent:
      break;
  }
  if (before == Role::closing) return "copy_gone";
  return before == Role::awaiting ? "no_copy" : "key_left";
}

// The traced keys of a table.
class KeyTrace::TracedTable final : public lapse::RoleWatch {
 public:
  TracedTable(KeyTrace& trace, const lapse::TableHandle& table, std::vector<Key> keys)
      : name_(lapse::json_string(table.name())),
        domain_(table.state().self_domain()),
        trace_(trace),
        keys_(std::move(keys)),
        counts_(std::make_unique<Counts[]>(keys_.size())) {}

  void changed(Key key, Role before, Role after) noexcept override {
    if (other_watch_ != nullptr) other_watch_->changed(key, before, after);
    if (before == after || index(key) == keys_.size()) return;
    try {
      trace_.write(*this, key, "role",
                   fmt::format(R"(, "from": "{}", "to": "{}", "change": "{}")", role_name(before),
                               role_name(after), role_change_name(before, after)));
    } catch (...) {
      trace_.failed_ = true;
    }
  }

  void set_other_watch(lapse::RoleWatch* other) { other_watch_ = other; }

  const std::vector<Key>& keys() const { return keys_; }
  // The index of a key; the number of keys if it is not traced.
  std::size_t index(Key key) const {
    const auto found = std::ranges::lower_bound(keys_, key);
    return found != keys_.end() && *found == key ? static_cast<std::size_t>(found - keys_.begin())
                                                 : keys_.size();
  }
  Counts& counts(std::size_t index) { return counts_[index]; }
  const std::string& name() const { return name_; }
  lapse::Domain domain() const { return domain_; }

 private:
  const std::string name_;  // as JSON
  const lapse::Domain domain_;
  KeyTrace& trace_;
  const std::vector<Key> keys_;
  std::unique_ptr<Counts[]> counts_;
  lapse::RoleWatch* other_watch_ = nullptr;
};

KeyTrace::KeyTrace(std::map<std::string, std::vector<Key>> keys, const std::string& path, lapse::Rank rank)
    : keys_(std::move(keys)), rank_(rank) {
  const std::string name = fmt::format("{}.{}", path, rank.value());
  file_ = std::fopen(name.c_str(), "w");
  if (file_ == nullptr) {
    throw lapse::ConfigurationError(fmt::format("option trace_file: cannot write {} on rank {}: {}", name,
                                                rank.value(), std::strerror(errno)));
  }
}

KeyTrace::~KeyTrace() {
  flush();
  std::fclose(file_);
}

void KeyTrace::add_table(const lapse::TableHandle& table) {
  const auto found = keys_.find(std::string(table.name()));
  if (found == keys_.end()) return;
  if (tables_.size() <= table.id().index()) tables_.resize(table.id().index() + 1);
  for (const Key key : found->second) {
    if (table.has(key)) continue;
    throw lapse::ConfigurationError(
        fmt::format("option trace_keys names key {} of table '{}', which has {} keys", key.value(),
                    table.name(), table.keys()));
  }
  auto traced = std::make_unique<TracedTable>(*this, table, found->second);
  lapse::TableShard& state = table.state();
  for (const Key key : traced->keys()) {
    if (!state.serves(key)) continue;
    write(*traced, key, "start", fmt::format(R"(, "role": "{}")", role_name(state.store().word(key).role())));
  }
  traced->set_other_watch(state.store().set_role_watch(traced.get()));
  tables_[table.id().index()] = std::move(traced);
}

std::vector<std::string> KeyTrace::unknown_tables() const {
  std::vector<std::string> names;
  for (const auto& [name, keys] : keys_) {
    const std::string json = lapse::json_string(name);
    if (std::ranges::none_of(tables_, [&](const auto& table) { return table && table->name() == json; }))
      names.push_back(name);
  }
  return names;
}

void KeyTrace::write(const TracedTable& table, Key key, std::string_view event, std::string_view rest) {
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  fmt::format_to(std::back_inserter(lines_),
                 R"({{"time": {:.9f}, "rank": {}, "domain": {}, "table": {}, "key": {}, "event": "{}"{}}})"
                 "\n",
                 seconds, rank_.value(), table.domain().value(), table.name(), key.value(), event, rest);
  if (lines_.size() >= kBufferBytes) write_file();
}

void KeyTrace::write_accesses() {
  for (const auto& table : tables_) {
    if (table == nullptr) continue;
    for (std::size_t i = 0; i < table->keys().size(); ++i) {
      std::array<std::uint64_t, 3> counts{};
      for (std::size_t kind = 0; kind < counts.size(); ++kind)
        counts[kind] = table->counts(i)[kind].exchange(0, std::memory_order_relaxed);
      if (counts[0] + counts[1] + counts[2] == 0) continue;
      write(*table, table->keys()[i], "access",
            fmt::format(R"(, "main": {}, "copy": {}, "remote": {})", counts[0], counts[1], counts[2]));
    }
  }
}

void KeyTrace::write_file() {
  const bool written =
      std::fwrite(lines_.data(), 1, lines_.size(), file_) == lines_.size() && std::fflush(file_) == 0;
  lines_.clear();
  failed_ = failed_ || !written;
}

bool KeyTrace::flush() {
  write_accesses();
  write_file();
  return !failed_;
}

// --- what the server reports

void KeyTrace::wanted(lapse::TableId id, std::span<const Key> keys, bool on) {
  const TracedTable* const table = find(id);
  if (table == nullptr) return;
  for (const Key key : keys)
    if (table->index(key) < table->keys().size()) write(*table, key, on ? "want" : "unwant");
}

void KeyTrace::round_ended() {
  write_accesses();
}

void KeyTrace::accessed(const lapse::TableShard& shard, std::span<const Key> keys, lapse::Store::Reach reach,
                        lapse::AccessKind) {
  TracedTable* const table = find(shard.id());
  if (table == nullptr) return;
  for (const Key key : keys) {
    const std::size_t index = table->index(key);
    if (index == table->keys().size()) continue;
    // Accesses that wait for a key are remote ones here.
    const lapse::AccessPlace place = std::min(place_of_access(shard, key, reach), lapse::AccessPlace::remote);
    table->counts(index)[static_cast<std::size_t>(place)].fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace adapm
