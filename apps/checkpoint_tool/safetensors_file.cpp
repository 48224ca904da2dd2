#include "apps/checkpoint_tool/safetensors_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "lapse/core/file_error.hpp"

namespace lapse::apps {

namespace {

constexpr std::size_t kRowsBytes = std::size_t{1} << 20;

std::string_view tensor_type(ArrayElement element) {
  switch (element) {
    case ArrayElement::float32:
      return "F32";
    case ArrayElement::float64:
      return "F64";
    case ArrayElement::int32:
      return "I32";
    case ArrayElement::int64:
      return "I64";
    case ArrayElement::uint64:
      break;
  }
  return "U64";
}

[[noreturn]] void refuse(const std::string& path) {
  throw FileError(path, fmt::format("cannot be written: {}", std::strerror(errno)));
}

}  // namespace

SafetensorsFile::SafetensorsFile(std::string path)
    : path_(std::move(path)),
      temporary_path_(path_ + ".tmp"),
      descriptor_(::open(temporary_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) refuse(temporary_path_);
}

SafetensorsFile::SafetensorsFile(std::string path, std::vector<ArrayDescription> arrays)
    : SafetensorsFile(std::move(path)) {
  arrays_.resize(arrays.size());
  // Arrays of 8-byte elements come first, so that all are aligned.
  std::vector<std::size_t> order(arrays.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](std::size_t i) { return element_bytes(arrays[i].element); });
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  std::uint64_t offset = 0;
  for (const std::size_t i : order) {
    const ArrayDescription& array = arrays[i];
    std::vector<std::uint64_t> shape{array.rows};
    if (array.columns) shape.push_back(*array.columns);
    arrays_[i].offset = offset;
    header[array.name] = {{"dtype", tensor_type(array.element)},
                          {"shape", shape},
                          {"data_offsets", {offset, offset + array.bytes()}}};
    offset += array.bytes();
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::json::exception& error) {
    throw FileError(path_, fmt::format("names of tables must be UTF-8: {}", error.what()));
  }
  text.append((8 - text.size() % 8) % 8, ' ');
  const std::uint64_t header_bytes = text.size();
  write(0, std::as_bytes(std::span(&header_bytes, 1)));
  write(sizeof header_bytes, std::as_bytes(std::span(text)));
  for (Array& array : arrays_) array.offset += sizeof header_bytes + header_bytes;
}

SafetensorsFile::~SafetensorsFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  std::remove(temporary_path_.c_str());
}

void SafetensorsFile::write(std::uint64_t offset, std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    const ::ssize_t written = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<::off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) refuse(temporary_path_);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
}

void SafetensorsFile::flush(Array& array) const {
  write(array.offset, array.rows);
  array.offset += array.rows.size();
  array.rows.clear();
}

void SafetensorsFile::append(std::size_t array, std::span<const std::byte> row) {
  std::vector<std::byte>& rows = arrays_[array].rows;
  rows.insert(rows.end(), row.begin(), row.end());
  if (rows.size() >= kRowsBytes) flush(arrays_[array]);
}

void SafetensorsFile::close() {
  for (Array& array : arrays_) flush(array);
  const int descriptor = std::exchange(descriptor_, -1);
  if (::close(descriptor) != 0 || std::rename(temporary_path_.c_str(), path_.c_str()) != 0) {
    const int reason = errno;
    std::remove(temporary_path_.c_str());
    errno = reason;
    refuse(path_);
  }
}

}  // namespace lapse::apps
