#include "apps/common/option_values.hpp"
#include "apps/report/result_files.hpp"

namespace lapse::apps {

void add_result_files(CLI::App& app, ResultFiles& files) {
  app.add_option("--summary-json", files.summary_json, "Write the results to this file")->check(file_name());
  app.add_option("--report", files.report, "Write a page about the run, with charts, to this file")
      ->check(file_name());
}

}  // namespace lapse::apps
