#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "apps/checkpoint_tool/convert.hpp"
#include "apps/checkpoint_tool/table_rows.hpp"
#include "lapse/checkpoint/checkpoint_error.hpp"

namespace lapse::apps {

namespace {

ArrayElement array_element(CheckpointElement element) {
  switch (element) {
    case CheckpointElement::float32:
      return ArrayElement::float32;
    case CheckpointElement::float64:
      return ArrayElement::float64;
    case CheckpointElement::int32:
      return ArrayElement::int32;
    case CheckpointElement::int64:
      break;
  }
  return ArrayElement::int64;
}

// A table, and the indices of its arrays.
struct Plan {
  const TableRecord* table;
  std::size_t values;
  std::optional<std::size_t> keys;
  std::optional<std::size_t> state;
};

class Planner {
 public:
  explicit Planner(const ToArrays& request) : request_(request) {}

  void add(const TableRecord& table, const std::string& manifest_file) {
    if (table.length == 0) {
      throw UsageError(fmt::format(
          "table '{}' has a length for each key: expected a table of one length, which is an array",
          table.name));
    }
    const std::uint64_t rows = table.entries();
    if (!table.sparse && rows != table.keys) {
      throw CheckpointError(
          CheckpointError::Reason::damaged, manifest_file,
          fmt::format("table '{}' has values of {} keys, expected {}", table.name, rows, table.keys));
    }
    const bool is_npy = request_.format == ArrayFormat::npy;
    if (is_npy && table.sparse && request_.keys.empty())
      throw UsageError(
          fmt::format("table '{}' is sparse: expected --keys FILE.npy for its keys", table.name));
    if (is_npy && !table.sparse && !request_.keys.empty())
      throw UsageError(fmt::format("table '{}' is dense: --keys does not apply, row i is key i", table.name));
    if (is_npy && !request_.state.empty() && table.state_elements == 0)
      throw UsageError(fmt::format("table '{}' has no state: --state does not apply", table.name));
    const ArrayElement element = array_element(table.element);
    Plan plan{.table = &table,
              .values = add({is_npy ? request_.output : name(table, "values"), element, rows, table.length}),
              .keys = {},
              .state = {}};
    if (table.sparse)
      plan.keys = add({is_npy ? request_.keys : name(table, "keys"), ArrayElement::uint64, rows, {}});
    if (table.state_elements != 0 && (is_npy ? !request_.state.empty() : request_.with_state)) {
      plan.state = add({is_npy ? request_.state : name(table, "state"), element, rows, table.state_elements});
    }
    plans.push_back(plan);
  }

  std::vector<Plan> plans;
  std::vector<ArrayDescription> arrays;

 private:
  std::string name(const TableRecord& table, std::string_view part) const {
    return fmt::format("{}{}{}", table.name, request_.format == ArrayFormat::hdf5 ? '/' : '.', part);
  }
  std::size_t add(ArrayDescription array) {
    arrays.push_back(std::move(array));
    return arrays.size() - 1;
  }

  const ToArrays& request_;
};

// Also recognises a path written in two ways.
bool is_one_file(const std::string& one, const std::string& other) {
  std::error_code error;
  const auto normal = [&](const std::string& path) { return std::filesystem::weakly_canonical(path, error); };
  return one == other || (!one.empty() && !other.empty() && normal(one) == normal(other) && !error);
}

void require_new(const std::string& path) {
  std::error_code error;
  if (!path.empty() && std::filesystem::exists(path, error))
    throw FileError(path, "is there already: --force replaces it");
}

void copy_rows(const CheckpointFolder& folder, const Manifest& manifest, const Plan& plan, ArrayFile& file) {
  const TableRecord& table = *plan.table;
  std::uint64_t row = 0;
  std::uint64_t next_key = 0;  // of a dense table; in a sparse table the smallest possible key
  for (TableRows rows(folder, manifest, table); !rows.at_end(); rows.advance()) {
    const ShardEntry entry = rows.entry();
    if (table.sparse ? row != 0 && entry.key < next_key : entry.key != next_key) {
      throw CheckpointError(CheckpointError::Reason::damaged, folder.step_path(manifest.step),
                            fmt::format("table '{}' has key {} where key {}{} is expected", table.name,
                                        entry.key, next_key, table.sparse ? " or a later one" : ""));
    }
    if (plan.keys) file.append(*plan.keys, std::as_bytes(std::span(&entry.key, 1)));
    file.append(plan.values, entry.value);
    if (plan.state) file.append(*plan.state, entry.state);
    next_key = entry.key + 1;
    ++row;
  }
  if (row != table.entries()) {
    throw CheckpointError(
        CheckpointError::Reason::damaged, folder.step_path(manifest.step),
        fmt::format("table '{}' has {} keys in its shards, expected {}", table.name, row, table.entries()));
  }
}

}  // namespace

void convert_to_arrays(const CheckpointFolder& folder, const Manifest& manifest, const ToArrays& request) {
  for (const std::string& other : {request.keys, request.state}) {
    if (other.empty()) continue;
    if (is_one_file(other, request.output) || is_one_file(request.keys, request.state))
      throw UsageError(fmt::format("'{}' is named twice: each array has a file of its own", other));
  }
  if (!request.force)
    for (const std::string& path : {request.output, request.keys, request.state}) require_new(path);
  const std::string manifest_file = folder.file_path(manifest.step, std::string(Manifest::kFile));
  Planner planner(request);
  if (request.format == ArrayFormat::npy) {
    if (request.tables.size() > 1) throw UsageError("a .npy file has one table: expected one --table");
    planner.add(chosen_table(folder, manifest, request.tables.empty() ? "" : request.tables[0]),
                manifest_file);
  } else if (request.tables.empty()) {
    for (const TableRecord& table : manifest.tables) planner.add(table, manifest_file);
  } else {
    for (const std::string& name : request.tables)
      planner.add(chosen_table(folder, manifest, name), manifest_file);
  }
  const auto file = make_array_file(request.format, request.output, planner.arrays);
  for (const Plan& plan : planner.plans) copy_rows(folder, manifest, plan, *file);
  file->close();
}

}  // namespace lapse::apps
