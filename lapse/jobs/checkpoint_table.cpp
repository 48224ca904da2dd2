#include "lapse/jobs/checkpoint_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "lapse/checkpoint/checkpoint_error.hpp"
#include "lapse/protocol/table/table_shard.hpp"

namespace lapse {

namespace {

CheckpointElement checkpoint_element(ElementType type) {
  switch (type) {
    case ElementType::float32:
      return CheckpointElement::float32;
    case ElementType::float64:
      return CheckpointElement::float64;
    case ElementType::int32:
      return CheckpointElement::int32;
    case ElementType::int64:
      break;
  }
  return CheckpointElement::int64;
}

bool is_integer(CheckpointElement element) {
  return element == CheckpointElement::int32 || element == CheckpointElement::int64;
}

std::string length_text(std::uint64_t length) {
  return length == 0 ? "a length for each key" : fmt::format("{} elements", length);
}

}  // namespace

TableRecord CheckpointTable::record() const {
  const TableShard& table = table_.state();
  const ValueLayout& layout = table.sizes().layout();
  TableRecord record;
  record.name = name_;
  record.sparse = table_.is_sparse();
  record.keys = record.sparse ? 0 : table_.keys();
  record.element = checkpoint_element(layout.type);
  record.length = table_.length();
  record.state_elements = record.length == 0 ? 0 : layout.state_elements();
  record.update_rule = table.definition().rule.rule().name();
  record.update_rule_text = table.definition().rule.rule().to_string();
  record.initialiser = table.definition().initialiser.to_string();
  record.seed = table.definition().seed;
  return record;
}

void CheckpointTable::require_fit(const TableRecord& given, const TableLoad& load, bool grow,
                                  const std::string& file) const {
  const TableRecord own = record();
  const auto refuse = [&](const std::string& in_checkpoint, const std::string& in_server) {
    throw CheckpointError(CheckpointError::Reason::mismatch, file,
                          fmt::format("table '{}' has {} in the checkpoint, but {} in the server", name_,
                                      in_checkpoint, in_server));
  };
  const auto keys_text = [](const TableRecord& one) {
    return one.sparse ? "any 64-bit keys" : fmt::format("{} keys", one.keys);
  };
  const bool fits = given.keys == own.keys || (grow && given.keys < own.keys);
  if (given.sparse != own.sparse || !fits) refuse(keys_text(given), keys_text(own));
  const bool converts = load.convert && is_integer(given.element) == is_integer(own.element);
  if (given.element != own.element && !converts) {
    refuse(fmt::format("elements of type {}", element_name(given.element)),
           fmt::format("elements of type {}", element_name(own.element)));
  }
  if (given.length != own.length) refuse(length_text(given.length), length_text(own.length));
  const bool same_rule = given.update_rule == own.update_rule && given.state_elements == own.state_elements;
  if (load.state && !same_rule) {
    refuse(
        fmt::format("the update rule {} with {} elements of state", given.update_rule, given.state_elements),
        fmt::format("the update rule {} with {} elements of state", own.update_rule, own.state_elements));
  }
  const std::uint64_t entries = given.entries();
  if (!own.sparse && entries != given.keys) {
    throw CheckpointError(
        CheckpointError::Reason::damaged, file,
        fmt::format("table '{}' has values of {} keys, expected {}", name_, entries, given.keys));
  }
}

void CheckpointTable::require_fit(std::uint64_t key, std::size_t length, const std::string& file) const {
  if (!table_.has(Key(key))) {
    throw CheckpointError(CheckpointError::Reason::damaged, file,
                          fmt::format("has key {}, but table '{}' has {} keys", key, name_, table_.keys()));
  }
  const std::size_t own = table_.state().sizes().length(Key(key));
  if (own == length) return;
  throw CheckpointError(
      CheckpointError::Reason::mismatch, file,
      fmt::format("the value of key {} of table '{}' has {} elements in the checkpoint, but {} in the server",
                  key, name_, length, own));
}

}  // namespace lapse
