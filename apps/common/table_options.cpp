#include "apps/common/table_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "apps/common/option_values.hpp"
#include "lapse/io/text/table_fields.hpp"

namespace lapse::apps {

CLI::Option* add_columns(CLI::App& app, const std::string& option, std::vector<std::string>& columns,
                         const std::vector<std::string>& meanings, std::size_t least) {
  const std::string names = fmt::format("{}", fmt::join(meanings, ","));
  const std::string without = least < meanings.size() ? "; without the last, each is 1" : "";
  return app
      .add_option_function<std::string>(
          option,
          [&columns, option, names, least, size = meanings.size()](const std::string& text) {
            columns = CLI::detail::split(text, ',');
            const bool has_empty =
                std::ranges::any_of(columns, [](const auto& column) { return column.empty(); });
            if (columns.size() < least || columns.size() > size || has_empty)
              throw CLI::ValidationError(option, fmt::format("'{}' is not {}", text, names));
          },
          "Columns " + names + ": names in the first line or numbers from 1" + without)
      ->type_name("TEXT");
}

CLI::Option* add_separator(CLI::App& app, std::string& separator) {
  std::map<std::string, std::string> separators{{"found", ""}};
  for (const char* const name : {"tab", "comma", "semicolon", "colons", "bar", "blanks"})
    separators.emplace(name, io::separator_of(name));
  return add_names(app, "--separator", separator, separators,
                   "Between columns (default: found in the first line)");
}

}  // namespace lapse::apps
