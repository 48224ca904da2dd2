#include "apps/viewer/page_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>

#include "apps/html/html_text.hpp"
#include "apps/viewer/allocation.hpp"
#include "apps/viewer/rank_trace.hpp"
#include "lapse/core/error.hpp"

namespace lapse::apps {

namespace {

constexpr std::int32_t kMaxPageDomains = 32;
constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// A module's text as part of one script: without imports, and what it exports is visible to those behind it.
std::string joined_module(std::string_view module) {
  std::string joined;
  while (!module.empty()) {
    const std::size_t end = module.find('\n');
    std::string_view line = module.substr(0, end);
    module.remove_prefix(end == std::string_view::npos ? module.size() : end + 1);
    if (line.starts_with("import ")) continue;
    if (line.starts_with("export ")) line.remove_prefix(7);
    joined.append(line) += '\n';
  }
  return joined;
}

void replace_mark(std::string& document, std::string_view mark, std::string_view text) {
  document.replace(document.find(mark), mark.size(), text);
}

// `data`: elements with the traces; `sources`: what the page may load.
std::string document_of(const PageParts& parts, std::string_view data, std::string_view sources) {
  std::string program;
  for (const std::string_view module : parts.modules) program += joined_module(module);
  std::string document(parts.document);
  replace_mark(document, "@SOURCES@", sources);
  replace_mark(document, "@LIVE@", sources.empty() ? "false" : "true");
  replace_mark(document, "@STYLE@", parts.style);
  replace_mark(document, "@PROGRAM@", program);
  replace_mark(document, "@RUNS@", data);
  return document;
}

}  // namespace

std::string base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i)
      group = group << 8U | (i < count ? static_cast<std::uint8_t>(bytes[at + i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i) text += i <= count ? kDigits[group >> (18 - 6 * i) & 63U] : '=';
  }
  return text;
}

std::string page_of(const std::vector<PageRun>& runs) {
  const PageParts parts = page_parts();
  std::string data;
  std::set<std::string> names;
  for (const PageRun& run : runs) {
    if (!names.insert(run.name).second)
      throw ConfigurationError(
          fmt::format("there are two runs '{}': NAME=TRACE gives one another name", run.name));
    std::vector<RankTrace> traces;
    for (const std::string& path : run.paths) {
      const std::string bytes = trace_file_bytes(path);
      traces.push_back(parse_rank_trace(bytes, path));
      data += fmt::format(
          "<script type=\"application/octet-stream\" class=\"trace\" data-run=\"{}\" "
          "data-file=\"{}\">{}</script>\n",
          html_text(run.name), html_text(path.substr(path.rfind('/') + 1)), base64(bytes));
    }
    for (const TableAllocation& table : merge_traces(traces).tables) {
      if (table.domains > kMaxPageDomains)
        throw ConfigurationError(fmt::format("run '{}' has {} domains, the page shows up to {}", run.name,
                                             table.domains, kMaxPageDomains));
    }
  }
  return document_of(parts, data, "");
}

std::string served_page() {
  return document_of(page_parts(), "", "; connect-src 'self'");
}

}  // namespace lapse::apps
