#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <optional>
#include <span>

#include "apps/checkpoint_tool/convert.hpp"
#include "lapse/checkpoint/checkpoint_error.hpp"
#include "lapse/checkpoint/checkpoint_names.hpp"
#include "lapse/checkpoint/durable_file.hpp"
#include "lapse/checkpoint/folder_lock.hpp"
#include "lapse/checkpoint/shard_writer.hpp"
#include "lapse/io/npy/npy_input.hpp"

namespace lapse::apps {

namespace {

CheckpointElement element_of_values(const io::NpyInput& values) {
  const std::string& descriptor = values.descriptor();
  if (descriptor == io::npy_descriptor<float>()) return CheckpointElement::float32;
  if (descriptor == io::npy_descriptor<double>()) return CheckpointElement::float64;
  if (descriptor == io::npy_descriptor<std::int32_t>()) return CheckpointElement::int32;
  if (descriptor == io::npy_descriptor<std::int64_t>()) return CheckpointElement::int64;
  throw FileError(values.path(),
                  fmt::format("elements of type '{}', expected '<f4', '<f8', '<i4' or '<i8'", descriptor));
}

void require_rows(const io::NpyInput& array, std::size_t rows, const std::string& values_file) {
  if (array.shape()[0] == rows) return;
  throw FileError(array.path(),
                  fmt::format("has {} rows, expected {} as {} has", array.shape()[0], rows, values_file));
}

// Reads the keys of a sparse table, row by row.
class KeyColumn {
 public:
  KeyColumn(const std::string& path, std::size_t rows, const std::string& values_file) : input_(path) {
    // NumPy makes signed integers by default.
    is_signed_ = input_.descriptor() == io::npy_descriptor<std::int64_t>();
    input_.require(is_signed_ ? input_.descriptor() : io::npy_descriptor<std::uint64_t>(),
                   sizeof(std::uint64_t));
    if (input_.columns() != 1) throw FileError(path, "has several columns, expected one key in each row");
    require_rows(input_, rows, values_file);
  }

  std::uint64_t next() {
    std::uint64_t key = 0;
    input_.read(&key, sizeof key);
    if (is_signed_ && (key >> 63U) != 0) {
      throw FileError(input_.path(), fmt::format("row {} has key {}, expected keys from 0", row_,
                                                 static_cast<std::int64_t>(key)));
    }
    if (row_ != 0 && key <= last_) {
      throw FileError(input_.path(),
                      fmt::format("row {} has key {} behind key {}: expected rising keys", row_, key, last_));
    }
    ++row_;
    return last_ = key;
  }

 private:
  io::NpyInput input_;
  bool is_signed_ = false;
  std::uint64_t row_ = 0;
  std::uint64_t last_ = 0;
};

// Writes the shard of the table, row by row.
ShardRecord write_shard(const std::string& path, const ShardHeader& header, const FromArrays& request,
                        io::NpyInput& values, io::NpyInput* state) {
  const std::size_t rows = values.shape()[0];
  std::optional<KeyColumn> keys;
  if (!request.keys.empty()) keys.emplace(request.keys, rows, request.values);
  DurableFile file(path);
  ShardSize size(header);
  size.add_rows(rows);
  file.reserve(size.bytes());
  ShardWriter shard(file, header);
  const std::size_t element = element_bytes(header.element);
  std::vector<std::byte> content(header.content_bytes());
  const std::span<std::byte> value = std::span(content).first(header.length * element);
  const std::span<std::byte> behind = std::span(content).subspan(value.size());
  for (std::uint64_t row = 0; row < rows; ++row) {
    values.read(value.data(), value.size());
    if (state != nullptr) state->read(behind.data(), behind.size());
    shard.add(keys ? keys->next() : row, content, header.length);
  }
  ShardRecord record = shard.finish();
  file.finish();
  return record;
}

}  // namespace

void convert_from_arrays(const CheckpointFolder& folder, const FromArrays& request) {
  io::NpyInput values(request.values);
  ShardHeader header;
  header.table = request.table;
  header.element = element_of_values(values);
  values.require(values.descriptor(), element_bytes(header.element));
  header.length = values.columns();
  if (header.length == 0) throw FileError(request.values, "has no columns, expected one for each element");
  std::optional<io::NpyInput> state;
  if (!request.state.empty()) {
    state.emplace(request.state);
    state->require(values.descriptor(), element_bytes(header.element));
    require_rows(*state, values.shape()[0], request.values);
    header.state_elements = state->columns();
  }
  make_folder(folder.path());
  const FolderLock lock(folder.path());
  const std::string manifest_file = folder.file_path(request.step, std::string(Manifest::kFile));
  if (!request.force && std::filesystem::exists(manifest_file))
    throw FileError(manifest_file, "is there already: --force replaces the checkpoint of this step");
  header.checkpoint = new_checkpoint_number();
  const std::string file = checkpoint_file_name(header.checkpoint, 0, 1);
  folder.make_step(request.step, file);
  folder.remove_left_overs(request.step, header.checkpoint);
  try {
    Manifest manifest;
    manifest.checkpoint = header.checkpoint;
    manifest.step = request.step;
    manifest.ranks = 1;
    manifest.run = lock.number();
    manifest.order = CheckpointFolder::next_order(folder.latest().order);
    TableRecord table;
    table.name = request.table;
    table.sparse = !request.keys.empty();
    table.keys = table.sparse ? 0 : values.shape()[0];
    table.element = header.element;
    table.length = header.length;
    table.state_elements = header.state_elements;
    table.update_rule = request.rule;
    table.update_rule_text = request.rule;
    table.initialiser = "zero";
    table.shards.push_back(write_shard(folder.file_path(request.step, file), header, request, values,
                                       state ? &*state : nullptr));
    table.shards[0].file = file;
    folder.sync_name(request.step, file);
    manifest.tables.push_back(std::move(table));
    folder.commit(manifest);
  } catch (...) {
    folder.discard(request.step, {file});
    throw;
  }
  folder.remove_left_overs(request.step, header.checkpoint);  // of the replaced checkpoint
}

}  // namespace lapse::apps
