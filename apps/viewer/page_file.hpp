// Writes the page that shows traces in a browser.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lapse::apps {

// A run that the page shows: the files of its ranks.
struct PageRun {
  std::string name;
  std::vector<std::string> paths;
};

// The parts of the page, as the build has found them in apps/viewer/page.
struct PageParts {
  std::string_view document;  // with the marks that page_of replaces
  std::string_view style;
  std::vector<std::string_view> modules;  // in an order in which they may follow each other
};
PageParts page_parts();

// One HTML document, which needs no other file: with the files of all runs in it. Throws FileError, and
// ConfigurationError for runs of one name and for what merge_traces refuses.
std::string page_of(const std::vector<PageRun>& runs);

// The document without runs, for TraceServer: it asks where it came from for the traces.
std::string served_page();

std::string base64(std::string_view bytes);

}  // namespace lapse::apps
