#include "apps/report/chart_style.hpp"

#include <fmt/format.h>

#include <array>

namespace lapse::apps {

namespace {

// Blue, orange, green, violet, pink, ochre, teal, grey.
constexpr std::string_view kChartStyle =
    R"css(:root { color-scheme: light dark; --paper: #ffffff; --ink: #1d2530; --muted: #5b6674; --grid: #dfe4ea;
  --c0: #1f6fd0; --c1: #c4500c; --c2: #1a7f4e; --c3: #7d46bd; --c4: #c2336f; --c5: #8a6a00; --c6: #0b7c8c; --c7: #5d6875; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #161b22; --ink: #e6eaf0; --muted: #9aa6b4; --grid: #303946;
  --c0: #6cb0ff; --c1: #ff9a5a; --c2: #52cf92; --c3: #bf98f5; --c4: #f585b4; --c5: #dcb640; --c6: #49c8d9; --c7: #a7b3c1; } }
.chart { font-family: system-ui, "Segoe UI", "DejaVu Sans", Arial, sans-serif; font-size: 12px; font-variant-numeric: tabular-nums; }
.chart text { fill: var(--ink); }
.chart .title { font-size: 14px; font-weight: 600; }
.chart .quiet { fill: var(--muted); }
.chart .paper { fill: var(--paper); }
.chart .grid { stroke: var(--grid); fill: none; shape-rendering: crispEdges; }
.chart .axis { stroke: var(--muted); fill: none; shape-rendering: crispEdges; }
.chart .line { fill: none; stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; }
.chart .gap { stroke-width: 1; stroke-dasharray: 2 4; }
.chart .mark { stroke: var(--paper); stroke-width: 1; }
.chart .hit { fill: transparent; stroke: none; }
.chart .point { fill-opacity: 0.75; }
.chart .label { font-size: 11px; paint-order: stroke; stroke: var(--paper); stroke-width: 3px; stroke-linejoin: round; }
.c0 { fill: var(--c0); stroke: var(--c0); } .c1 { fill: var(--c1); stroke: var(--c1); }
.c2 { fill: var(--c2); stroke: var(--c2); } .c3 { fill: var(--c3); stroke: var(--c3); }
.c4 { fill: var(--c4); stroke: var(--c4); } .c5 { fill: var(--c5); stroke: var(--c5); }
.c6 { fill: var(--c6); stroke: var(--c6); } .c7 { fill: var(--c7); stroke: var(--c7); }
.chart .back { fill: var(--muted); fill-opacity: 0.3; }
)css";

// Circle, square, triangle, diamond, triangle down, cross, star of four, bar.
constexpr std::array<std::string_view, 9> kMarkPaths{
    "M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z",
    "M-3.2 -3.2h6.4v6.4h-6.4z",
    "M0 -4.2L4 3H-4z",
    "M0 -4.6L4.6 0L0 4.6L-4.6 0z",
    "M0 4.2L-4 -3H4z",
    "M-1.5 -4.2h3v2.7h2.7v3h-2.7v2.7h-3v-2.7h-2.7v-3h2.7z",
    "M0 -5L1.5 -1.5L5 0L1.5 1.5L0 5L-1.5 1.5L-5 0L-1.5 -1.5z",
    "M-4.2 -1.7h8.4v3.4h-8.4z",
    "M-1.7 -4.2h3.4v8.4h-3.4z"};

}  // namespace

std::string_view chart_style() {
  return kChartStyle;
}

std::string colour_class(std::size_t number) {
  return fmt::format("c{}", number % kChartColours);
}

std::string_view mark_path(std::size_t number) {
  return kMarkPaths[number % kMarkPaths.size()];
}

}  // namespace lapse::apps
