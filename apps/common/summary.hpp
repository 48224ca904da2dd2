// The results of a run, as a table and as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lapse::apps {

// Named results in the order of insertion. Results with a label are shown in the table.
class Summary {
 public:
  // `shown`: the value as printed in the table.
  void add(std::string_view name, double value, std::string_view label = {}, std::string_view shown = {});
  void add(std::string_view name, std::uint64_t value, std::string_view label = {},
           std::string_view shown = {});
  void add(std::string_view name, std::string_view value, std::string_view label = {});
  // Adds a value that is JSON already.
  void add_json(std::string_view name, std::string_view json);
  // Adds the results of another one, in their order.
  void add_all(const Summary& other);

  // The table, with two columns: label and value.
  std::string to_text() const;
  // One JSON object. Numbers that are not finite become null.
  std::string to_json() const;

 private:
  struct Entry {
    std::string name;
    std::string json;
    std::string label;  // empty: not in the table
    std::string shown;
  };
  std::vector<Entry> entries_;
};

// A JSON number, or null.
std::string json_number(double value);

// The content of a file. Throws FileError.
std::string read_text_file(const std::string& path);

// Writes a text file. Throws FileError.
void write_text_file(const std::string& path, std::string_view text);

}  // namespace lapse::apps
