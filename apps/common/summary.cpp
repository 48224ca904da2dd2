#include "apps/common/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>

#include "lapse/core/file_error.hpp"
#include "lapse/core/statistics/json.hpp"

namespace lapse::apps {

std::string json_number(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : "null";
}

void Summary::add(std::string_view name, double value, std::string_view label, std::string_view shown) {
  entries_.push_back({std::string(name), json_number(value), std::string(label),
                      shown.empty() ? fmt::format("{:.4f}", value) : std::string(shown)});
}

void Summary::add(std::string_view name, std::uint64_t value, std::string_view label,
                  std::string_view shown) {
  const std::string digits = fmt::format("{}", value);
  entries_.push_back(
      {std::string(name), digits, std::string(label), shown.empty() ? digits : std::string(shown)});
}

void Summary::add(std::string_view name, std::string_view value, std::string_view label) {
  entries_.push_back({std::string(name), json_string(value), std::string(label), std::string(value)});
}

void Summary::add_json(std::string_view name, std::string_view json) {
  entries_.push_back({std::string(name), std::string(json), {}, {}});
}

void Summary::add_all(const Summary& other) {
  entries_.insert(entries_.end(), other.entries_.begin(), other.entries_.end());
}

std::string Summary::to_text() const {
  std::size_t width = 0;
  for (const Entry& entry : entries_) width = std::max(width, entry.label.size());
  std::string text;
  for (const Entry& entry : entries_) {
    if (!entry.label.empty()) text += fmt::format("{:<{}}  {}\n", entry.label, width, entry.shown);
  }
  return text;
}

std::string Summary::to_json() const {
  std::string json = "{";
  for (const Entry& entry : entries_) {
    json += fmt::format("{}\n  {}: {}", json.size() == 1 ? "" : ",", json_string(entry.name), entry.json);
  }
  return json + "\n}\n";
}

std::string read_text_file(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "r"), &std::fclose);
  std::string text;
  std::array<char, 1 << 14> block;
  std::size_t bytes = 0;
  while (file && (bytes = std::fread(block.data(), 1, block.size(), file.get())) > 0)
    text.append(block.data(), bytes);
  if (!file || std::ferror(file.get()) != 0)
    throw FileError(path, fmt::format("cannot be read: {}", std::strerror(errno)));
  return text;
}

void write_text_file(const std::string& path, std::string_view text) {
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr) throw FileError(path, fmt::format("cannot be created: {}", std::strerror(errno)));
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) != 0 || !written) {
    throw FileError(path, fmt::format("cannot be written: {}", std::strerror(errno)));
  }
}

}  // namespace lapse::apps
