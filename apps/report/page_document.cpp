#include "apps/report/page_document.hpp"

#include <fmt/format.h>

#include "apps/html/html_text.hpp"
#include "apps/report/chart_style.hpp"

namespace lapse::apps {

namespace {

constexpr std::string_view kPageStyle =
    R"css(body { margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, "Segoe UI", "DejaVu Sans", Arial, sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 24px 20px 60px; }
h1 { font-size: 26px; line-height: 1.25; margin: 0 0 20px; overflow-wrap: anywhere; }
h2 { font-size: 19px; margin: 36px 0 12px; }
h3 { font-size: 15px; margin: 0 0 6px; overflow-wrap: anywhere; }
p { margin: 6px 0; }
.lead { max-width: 70ch; }
.quiet, small { color: var(--muted); }
.runs { display: grid; gap: 14px; grid-template-columns: repeat(auto-fit, minmax(min(100%, 300px), 1fr)); }
.run { border: 1px solid var(--grid); border-radius: 8px; padding: 12px 16px; min-width: 0; }
.data { white-space: pre-line; overflow-wrap: anywhere; }
pre { font: 13px/1.45 ui-monospace, "DejaVu Sans Mono", monospace; white-space: pre-wrap; overflow-wrap: anywhere; margin: 8px 0;
  padding: 8px 10px; border-radius: 6px; background: color-mix(in srgb, var(--grid) 45%, transparent); }
code { font: 0.92em ui-monospace, "DejaVu Sans Mono", monospace; }
.charts { display: grid; gap: 22px 26px; grid-template-columns: repeat(auto-fill, minmax(min(100%, 420px), 1fr)); }
figure { margin: 0; min-width: 0; }
svg.chart { display: block; width: 100%; height: auto; }
svg.key { vertical-align: -2px; margin-right: 6px; }
.scroll { overflow-x: auto; }
.scroll svg.chart { min-width: 720px; }
.tables { display: flex; flex-wrap: wrap; gap: 0 64px; align-items: flex-start; }
.tables > * { min-width: 0; max-width: 100%; }
table { border-collapse: collapse; font-size: 14px; }
th, td { text-align: left; vertical-align: top; padding: 4px 18px 4px 0; font-weight: 400; }
td { overflow-wrap: anywhere; }
thead th { font-weight: 600; white-space: nowrap; }
tr { border-bottom: 1px solid var(--grid); }
tbody th { color: var(--muted); white-space: nowrap; }
.quality th, .differs th { color: var(--ink); font-weight: 600; }
.number { white-space: nowrap; font-variant-numeric: tabular-nums; }
.best { font-weight: 600; }
.best small { font-weight: 400; color: var(--c2); }
summary { cursor: pointer; margin: 8px 0; font-size: 16px; }
@media print { main { max-width: none; padding: 0; } figure, .run { break-inside: avoid; } }
)css";

}  // namespace

std::string page_document(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{0}</title>\n<style>\n{1}{2}</style>\n</head>\n<body>\n<main>\n<h1>{0}</h1>\n{3}</main>\n</"
      "body>\n</html>\n",
      html_text(title), chart_style(), kPageStyle, body);
}

}  // namespace lapse::apps
