#include "apps/report/result_files.hpp"

#include <fmt/format.h>

#include <chrono>
#include <ctime>

#include "apps/common/command_words.hpp"
#include "apps/html/html_text.hpp"
#include "apps/report/command_options.hpp"
#include "apps/report/run_page.hpp"
#include "apps/report/run_summary.hpp"
#include "lapse/core/version.hpp"

namespace lapse::apps {

namespace {

// "2026-01-31 12:00 UTC"
std::string time_text() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02} UTC", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min);
}

}  // namespace

void ResultFiles::create() const {
  for (const std::string& file : {summary_json, report})
    if (!file.empty()) write_text_file(file, "");
}

void ResultFiles::write(const Summary& results, std::string_view data) const {
  if (summary_json.empty() && report.empty()) return;
  // Words of a command line and names in data may have any bytes.
  const std::string command = replaced_utf8(joined_command(words_of_process()));
  Summary run;
  run.add("command", std::string_view(command));
  run.add("version", library_version_text());
  run.add("data", std::string_view(replaced_utf8(data)));
  run.add("ended", std::string_view(time_text()));
  run.add_all(results);
  const std::string json = run.to_json();
  if (!summary_json.empty()) write_text_file(summary_json, json);
  if (!report.empty())
    write_text_file(report, run_page({parse_run_summary(json, report, options_of(command).program)}));
}

}  // namespace lapse::apps
