#include "apps/model_files/named_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>

#include "apps/model_files/query_error.hpp"
#include "lapse/core/file_error.hpp"
#include "lapse/io/npy/npy_reader.hpp"
#include "lapse/io/text/text_fields.hpp"
#include "lapse/io/vocabulary/vocabulary_file.hpp"

namespace lapse::apps {

namespace {

std::optional<std::uint64_t> to_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

void require_size(const std::string& path, std::size_t found, std::size_t expected) {
  if (found != expected)
    throw FileError(path, fmt::format("has {} names, expected {}, one for each row", found, expected));
}

std::string shape_text(const io::NpyShape& shape) {
  return shape.size() == 2 ? fmt::format("{} x {}", shape[0], shape[1]) : fmt::format("{}", shape[0]);
}

}  // namespace

RowNames::RowNames(std::string noun, io::Vocabulary names)
    : noun_(std::move(noun)), size_(names.size()), names_(std::move(names)) {}

RowNames RowNames::read(const ModelDescription& model, const std::string& role, std::string noun,
                        std::size_t size) {
  if (model.has_file(role + "_names")) {
    const std::string path = model.path_of(role + "_names");
    RowNames names(std::move(noun), io::read_vocabulary(path));
    require_size(path, names.size(), size);
    return names;
  }
  RowNames names(std::move(noun), size);
  if (model.has_file(role + "_ids")) {
    const std::string path = model.path_of(role + "_ids");
    names.ids_ = io::read_npy<std::uint64_t>(path).values;
    require_size(path, names.ids_.size(), size);
    if (std::ranges::adjacent_find(names.ids_, std::greater_equal<>()) != names.ids_.end())
      throw FileError(path, "its ids are not in ascending order");
  }
  return names;
}

std::optional<std::size_t> RowNames::try_find(std::string_view name) const {
  if (!names_.empty()) return names_.find(name);
  const auto number = to_number(name);
  if (!number) return std::nullopt;
  if (ids_.empty()) {
    if (*number < first_ || *number - first_ >= size_) return std::nullopt;
    return *number - first_;
  }
  const auto found = std::ranges::lower_bound(ids_, *number);
  if (found == ids_.end() || *found != *number) return std::nullopt;
  return static_cast<std::size_t>(found - ids_.begin());
}

std::size_t RowNames::find(std::string_view name) const {
  if (const auto row = try_find(name)) return *row;
  throw QueryError(fmt::format("no {} '{}'", noun_, io::shown(name)));
}

std::string RowNames::name(std::size_t row) const {
  if (!names_.empty()) return std::string(names_.name(static_cast<io::Vocabulary::Id>(row)));
  return std::to_string(ids_.empty() ? row + first_ : ids_[row]);
}

std::uint64_t RowNames::occurrences(std::size_t row) const {
  return names_.empty() ? 0 : names_.count(static_cast<io::Vocabulary::Id>(row));
}

std::vector<float> read_rows(const ModelDescription& model, const std::string& role, std::uint64_t rows,
                             std::uint64_t length) {
  const std::string path = model.path_of(role);
  io::NpyArray<float> array = io::read_npy<float>(path);
  const bool fits = array.shape.size() == 2 ? array.shape == io::NpyShape{rows, length}
                                            : length == 1 && array.shape == io::NpyShape{rows};
  if (!fits || rows == 0 || length == 0) {
    throw FileError(path, fmt::format("has {} numbers, expected {} x {}, as {} says", shape_text(array.shape),
                                      rows, length, model.path()));
  }
  const auto wrong =
      std::ranges::find_if_not(array.values, [](float number) { return std::isfinite(number); });
  if (wrong != array.values.end()) {
    throw FileError(path, fmt::format("has the number {} in row {}, expected finite numbers", *wrong,
                                      static_cast<std::uint64_t>(wrong - array.values.begin()) / length));
  }
  return std::move(array.values);
}

}  // namespace lapse::apps
