#include "apps/report_tool/chosen_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>

#include "lapse/core/file_error.hpp"
#include "lapse/io/text/line_reader.hpp"
#include "lapse/io/text/text_fields.hpp"

namespace lapse::apps {

namespace {

constexpr std::string_view kLabelledRows = "labelled";  // without a group

std::vector<std::size_t> by_frequency(const RowNames& names) {
  std::vector<std::size_t> rows(names.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  std::ranges::stable_sort(
      rows, [&](std::size_t a, std::size_t b) { return names.occurrences(a) > names.occurrences(b); });
  return rows;
}

// The text up to the next tab, which is taken off.
std::string_view next_field(std::string_view& line) {
  const std::size_t end = std::min(line.find('\t'), line.size());
  const std::string_view field = io::trimmed(line.substr(0, end));
  line.remove_prefix(std::min(end + 1, line.size()));
  return field;
}

class ChosenRows {
 public:
  ChosenRows(const NamedRows& rows, bool unit_length)
      : rows_(rows), unit_length_(unit_length), is_chosen_(rows.size()) {
    chosen_.length = rows.length();
  }

  void read_labels(const std::string& path) {
    io::LineReader reader(path);
    std::size_t unknown = 0;
    std::string first_unknown;
    for (std::string_view line; reader.next(line);) {
      const std::string_view name = next_field(line);
      if (name.empty()) continue;
      const auto row = rows_.names().try_find(name);
      if (!row) {
        if (++unknown == 1) first_unknown = io::shown(name);
        continue;
      }
      const std::string_view shown = next_field(line);
      const std::string_view group = next_field(line);
      add(*row, true, shown, group_of(group.empty() ? kLabelledRows : group));
    }
    if (unknown == 0) return;
    if (chosen_.names.empty())
      throw FileError(path,
                      fmt::format("the model has no row with one of its names, such as '{}'", first_unknown));
    chosen_.remark = fmt::format("Not in the model: {} of the names to be labelled, such as '{}'.", unknown,
                                 first_unknown);
  }

  // A row that has been added before is left alone.
  void add(std::size_t row, bool is_labelled, std::string_view shown, std::optional<std::size_t> group) {
    if (is_chosen_[row]) return;
    is_chosen_[row] = true;
    const auto values = rows_.row(row);
    const double squares = std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
    const double factor = unit_length_ && squares > 0 ? 1 / std::sqrt(squares) : 1;
    for (const float value : values)
      chosen_.values.push_back(static_cast<float>(factor * static_cast<double>(value)));
    chosen_.names.push_back(shown.empty() ? rows_.names().name(row) : std::string(shown));
    chosen_.labelled.push_back(is_labelled);
    chosen_.group.push_back(group);
  }

  EmbeddingRows rows() && { return std::move(chosen_); }

 private:
  std::size_t group_of(std::string_view name) {
    const auto [found, is_new] = groups_.emplace(name, groups_.size());
    if (is_new) chosen_.groups.emplace_back(name);
    return found->second;
  }

  const NamedRows& rows_;
  bool unit_length_;
  std::vector<bool> is_chosen_;
  std::map<std::string, std::size_t> groups_;
  EmbeddingRows chosen_;
};

}  // namespace

EmbeddingRows choose_rows(const NamedRows& rows, const RowChoice& choice) {
  ChosenRows chosen(rows, choice.unit_length);
  const bool has_file = !choice.labels.empty();
  if (has_file) chosen.read_labels(choice.labels);
  const std::size_t labels = has_file ? 0 : std::min(choice.label_count, rows.size());
  const std::size_t points =
      choice.points == 0 ? rows.size() : std::min(std::max(choice.points, labels), rows.size());
  const std::vector<std::size_t> frequent = by_frequency(rows.names());
  // Rows with labels differ from the other ones, if there are both.
  const bool all_alike = !has_file && labels == 0;
  for (std::size_t i = 0; i < points; ++i) {
    const bool is_labelled = i < labels;
    chosen.add(frequent[i], is_labelled, {},
               is_labelled || all_alike ? std::optional<std::size_t>(0) : std::nullopt);
  }
  return std::move(chosen).rows();
}

}  // namespace lapse::apps
