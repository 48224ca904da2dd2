#include "lapse/checkpoint/manifest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "lapse/checkpoint/checkpoint_error.hpp"
#include "lapse/checkpoint/checkpoint_names.hpp"
#include "lapse/checkpoint/checksum.hpp"
#include "lapse/core/error.hpp"

namespace lapse {

namespace {

using Json = nlohmann::ordered_json;
using Reason = CheckpointError::Reason;

// The first line of the file. The checksum covers everything after it.
constexpr std::string_view kFirstLine = "{{\"checksum\": \"{:016x}\",\n";
constexpr std::size_t kFirstLineBytes = 33;
// The second line, which identifies a manifest with a damaged first line.
constexpr std::string_view kSecondLine = "  \"format\": \"lapse checkpoint\",\n";
constexpr std::size_t kDigitsAt = 14;
constexpr std::size_t kDigits = 16;

std::string hex(std::uint64_t number) {
  return fmt::format("{:016x}", number);
}

std::uint64_t from_hex(std::string_view digits, const std::string& file) {
  std::uint64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto result = std::from_chars(digits.data(), end, number, 16);
  if (result.ec != std::errc{} || result.ptr != end || digits.size() != kDigits)
    throw CheckpointError(Reason::damaged, file,
                          fmt::format("has '{}' in place of 16 hexadecimal digits", digits));
  return number;
}

Json to_json(const ShardRecord& shard) {
  Json json{{"file", shard.file},
            {"offset", shard.offset},
            {"bytes", shard.bytes},
            {"entries", shard.entries},
            {"first_key", shard.first_key},
            {"last_key", shard.last_key},
            {"index_checksum", hex(shard.index_checksum)}};
  if (shard.not_finite != 0) json["not_finite"] = shard.not_finite;
  return json;
}

Json to_json(const TableRecord& table) {
  Json json = {{"name", table.name},
               {"sparse", table.sparse},
               {"keys", table.keys},
               {"element", std::string(element_name(table.element))},
               {"length", table.length},
               {"state_elements", table.state_elements},
               {"update_rule", table.update_rule},
               {"update_rule_text", table.update_rule_text},
               {"initialiser", table.initialiser},
               {"seed", table.seed},
               {"entries", table.entries()},
               {"shards", Json::array()}};
  if (table.not_finite() != 0) json["not_finite"] = table.not_finite();
  for (const ShardRecord& shard : table.shards) json["shards"].push_back(to_json(shard));
  return json;
}

Json to_json(const BlobRecord& blob) {
  return {
      {"file", blob.file}, {"offset", blob.offset}, {"bytes", blob.bytes}, {"checksum", hex(blob.checksum)}};
}

// Reads one manifest.
class Parser {
 public:
  explicit Parser(const std::string& file) : file_(file) {}

  Manifest manifest(const Json& json) const {
    Manifest manifest;
    manifest.checkpoint = hex_number(json, "checkpoint");
    manifest.step = number(json, "step");
    manifest.ranks = number(json, "ranks");
    if (json.contains("run")) manifest.run = hex_number(json, "run");
    if (json.contains("order")) manifest.order = number(json, "order");
    for (const Json& one : json.at("tables")) manifest.tables.push_back(table(one));
    if (const Json& global = json.at("global"); !global.is_null()) manifest.global = blob(global);
    for (const Json& one : json.at("per_worker")) manifest.per_worker.push_back(blob(one));
    for (const Json& one : json.at("clocks")) manifest.clocks.push_back(signed_number(one));
    return manifest;
  }

  // Refuses what JSON's conversions would accept: fractions, Booleans and negative numbers.
  std::uint64_t number(const Json& json, const char* name) const {
    const Json& value = json.at(name);
    if (!value.is_number_unsigned()) refuse_number(value, name);
    return value;
  }

 private:
  std::uint64_t hex_number(const Json& json, const char* name) const {
    return from_hex(json.at(name).get<std::string>(), file_);
  }

  std::int64_t signed_number(const Json& value) const {
    const bool fits =
        value.is_number_unsigned() ? value.get<std::uint64_t>() <= INT64_MAX : value.is_number_integer();
    if (!fits) refuse_number(value, "clocks");
    return value;
  }
  [[noreturn]] void refuse_number(const Json& value, const char* name) const {
    throw CheckpointError(
        Reason::damaged, file_,
        fmt::format("has '{}' that is no integer of 64 bits but a {}", name, value.type_name()));
  }

  // Accepts a file name in the folder or in a numbered subfolder, but no path out of it.
  std::string file_name(const Json& json) const {
    std::string name = json.at("file");
    const std::size_t slash = name.find('/');
    const std::string_view last = std::string_view(name).substr(slash == std::string::npos ? 0 : slash + 1);
    if (last.empty() || last.front() == '.' || last.find('/') != std::string::npos ||
        name.find('\0') != std::string::npos ||
        (slash != std::string::npos && !is_checkpoint_subfolder(std::string_view(name).substr(0, slash))))
      throw CheckpointError(Reason::damaged, file_,
                            fmt::format("lists '{}', which is no name of a file", name));
    return name;
  }

  BlobRecord blob(const Json& json) const {
    return {.file = file_name(json),
            .offset = number(json, "offset"),
            .bytes = number(json, "bytes"),
            .checksum = hex_number(json, "checksum")};
  }

  ShardRecord shard(const Json& json) const {
    return {.file = file_name(json),
            .offset = number(json, "offset"),
            .bytes = number(json, "bytes"),
            .entries = number(json, "entries"),
            .first_key = number(json, "first_key"),
            .last_key = number(json, "last_key"),
            .index_checksum = hex_number(json, "index_checksum"),
            .not_finite = json.contains("not_finite") ? number(json, "not_finite") : 0};
  }

  TableRecord table(const Json& json) const {
    TableRecord table;
    table.name = json.at("name");
    table.sparse = json.at("sparse");
    table.keys = number(json, "keys");
    const std::string element = json.at("element");
    const auto found = element_of(element);
    if (!found) {
      throw CheckpointError(
          Reason::damaged, file_,
          fmt::format("table '{}' has elements of an unknown type '{}'", table.name, element));
    }
    table.element = *found;
    table.length = number(json, "length");
    table.state_elements = number(json, "state_elements");
    table.update_rule = json.at("update_rule");
    table.update_rule_text = json.at("update_rule_text");
    table.initialiser = json.at("initialiser");
    table.seed = number(json, "seed");
    for (const Json& one : json.at("shards")) table.shards.push_back(shard(one));
    return table;
  }

  const std::string& file_;
};

}  // namespace

std::uint64_t TableRecord::entries() const {
  std::uint64_t sum = 0;
  for (const ShardRecord& shard : shards) sum += shard.entries;
  return sum;
}

std::uint64_t TableRecord::bytes() const {
  std::uint64_t sum = 0;
  for (const ShardRecord& shard : shards) sum += shard.bytes;
  return sum;
}

std::uint64_t TableRecord::not_finite() const {
  std::uint64_t sum = 0;
  for (const ShardRecord& shard : shards) sum += shard.not_finite;
  return sum;
}

const TableRecord* Manifest::table(std::string_view name) const {
  const auto found = std::ranges::find(tables, name, &TableRecord::name);
  return found == tables.end() ? nullptr : &*found;
}

std::vector<std::string> Manifest::files() const {
  std::vector<std::string> names;
  for (const TableRecord& one : tables)
    for (const ShardRecord& shard : one.shards) names.push_back(shard.file);
  if (global) names.push_back(global->file);
  for (const BlobRecord& blob : per_worker) names.push_back(blob.file);
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::uint64_t Manifest::bytes() const {
  std::uint64_t sum = global ? global->bytes : 0;
  for (const TableRecord& one : tables) sum += one.bytes();
  for (const BlobRecord& blob : per_worker) sum += blob.bytes;
  return sum;
}

std::uint64_t Manifest::not_finite() const {
  std::uint64_t sum = 0;
  for (const TableRecord& one : tables) sum += one.not_finite();
  return sum;
}

std::string Manifest::not_finite_text() const {
  std::string text;
  for (const TableRecord& one : tables) {
    if (one.not_finite() == 0) continue;
    text +=
        fmt::format("{}table '{}' has {} number{} that {} not finite", text.empty() ? "" : ", ", one.name,
                    one.not_finite(), one.not_finite() == 1 ? "" : "s", one.not_finite() == 1 ? "is" : "are");
  }
  return text;
}

std::string Manifest::to_text() const {
  Json json = {{"format", "lapse checkpoint"},
               {"version", kVersion},
               {"checkpoint", hex(checkpoint)},
               {"step", step},
               {"ranks", ranks}};
  if (run != 0) json["run"] = hex(run);
  if (order != 0) json["order"] = order;
  json["tables"] = Json::array();
  json["global"] = global ? to_json(*global) : Json();
  json["per_worker"] = Json::array();
  json["clocks"] = clocks;
  for (const TableRecord& one : tables) json["tables"].push_back(to_json(one));
  for (const BlobRecord& blob : per_worker) json["per_worker"].push_back(to_json(blob));
  std::string body;
  try {
    body = json.dump(2).substr(std::string_view("{\n").size()) + "\n";
  } catch (const Json::exception& error) {
    throw UsageError(
        fmt::format("the names in a checkpoint of step {} must be UTF-8: {}", step, error.what()));
  }
  return fmt::format(kFirstLine, lapse::checksum(std::as_bytes(std::span(body)))) + body;
}

Manifest Manifest::from_text(std::string_view text, const std::string& file) {
  if (text.size() < kFirstLineBytes)
    throw CheckpointError(Reason::truncated, file, "is no manifest of a checkpoint");
  const std::string_view body = text.substr(kFirstLineBytes);
  if (!text.starts_with("{\"checksum\": \"") && !body.starts_with(kSecondLine))
    throw CheckpointError(Reason::foreign, file, "is no manifest of a checkpoint");
  const std::uint64_t expected = from_hex(text.substr(kDigitsAt, kDigits), file);
  if (text.substr(0, kFirstLineBytes) != fmt::format(kFirstLine, expected))
    throw CheckpointError(Reason::damaged, file, "the first line is not that of a manifest");
  if (lapse::checksum(std::as_bytes(std::span(body))) != expected)
    throw CheckpointError(Reason::damaged, file, "the checksum of the manifest differs");
  try {
    const Json json = Json::parse(text);
    if (json.at("format") != "lapse checkpoint")
      throw CheckpointError(Reason::foreign, file, "is no manifest of a checkpoint");
    const Parser parser(file);
    const std::uint64_t version = parser.number(json, "version");
    if (version > kVersion) {
      throw CheckpointError(Reason::newer_version, file,
                            fmt::format("has version {} of the format, this library reads up to version {}",
                                        version, kVersion));
    }
    return parser.manifest(json);
  } catch (const Json::exception& error) {
    throw CheckpointError(Reason::damaged, file, error.what());
  }
}

}  // namespace lapse
