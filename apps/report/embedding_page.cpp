#include "apps/report/embedding_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/html/html_text.hpp"
#include "apps/report/number_text.hpp"
#include "apps/report/page_document.hpp"
#include "apps/report/principal_components.hpp"
#include "apps/report/scatter_chart.hpp"
#include "lapse/core/error.hpp"

namespace lapse::apps {

namespace {

constexpr std::size_t kComponents = 10;  // whose shares are shown

std::string percent_text(double share) {
  return fixed_text(100 * share, 1) + "\u00a0%";
}

std::string share_text(int component, double share) {
  return fmt::format("component {}: {} of the variance", component, percent_text(share));
}

void require_finite(const EmbeddingRows& rows) {
  const auto bad = std::ranges::find_if_not(rows.values, [](float value) { return std::isfinite(value); });
  if (bad == rows.values.end()) return;
  const auto row = static_cast<std::size_t>(bad - rows.values.begin()) / rows.length;
  throw ConfigurationError(fmt::format("the row of '{}' has a number that is not finite", rows.names[row]));
}

std::string shares_table(const std::vector<double>& shares) {
  std::string html =
      "<table>\n<thead><tr><th scope=\"col\">component</th><th scope=\"col\">share of variance</th><th "
      "scope=\"col\">sum</th></tr></thead>\n<tbody>\n";
  double sum = 0;
  for (std::size_t i = 0; i < shares.size() && shares[i] > 0; ++i) {
    sum += shares[i];
    html += fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"number\">{}</td><td class=\"number\">{}</td></tr>\n", i + 1,
        percent_text(shares[i]), percent_text(sum));
  }
  return html + "</tbody>\n</table>\n";
}

std::string lead_text(const EmbeddingRows& rows, const PrincipalComponents& components, std::size_t labels) {
  std::string text = fmt::format(
      "{} rows of {} numbers, projected to the two directions in which they differ the strongest: {} of the "
      "variance. "
      "Points are named when they are pointed at.",
      number_text(static_cast<double>(rows.names.size())), rows.length,
      percent_text(components.shares[0] + components.shares[1]));
  const auto wanted = static_cast<std::size_t>(std::ranges::count(rows.labelled, true));
  if (labels < wanted)
    text +=
        fmt::format(" {} of {} labels are left out, where they would cover others.", wanted - labels, wanted);
  return rows.remark.empty() ? text : text + " " + html_text(rows.remark);
}

}  // namespace

std::string embedding_page(const EmbeddingRows& rows) {
  const std::size_t count = rows.names.size();
  if (count == 0 || rows.length == 0) throw ConfigurationError("a picture of no rows: expected one or more");
  require_finite(rows);
  const PrincipalComponents components = principal_components(rows.values, rows.length, kComponents);
  ScatterChart chart{.title = rows.title,
                     .x_label = share_text(1, components.shares[0]),
                     .y_label = share_text(2, components.shares[1]),
                     .points = {},
                     .groups = rows.groups};
  for (std::size_t row = 0; row < count; ++row) {
    chart.points.push_back({.x = components.coordinates[row * kComponents],
                            .y = components.coordinates[row * kComponents + 1],
                            .name = rows.names[row],
                            .group = rows.group[row],
                            .is_labelled = rows.labelled[row]});
  }
  const ScatterDrawing drawing = draw_points(chart);
  std::string body = fmt::format("<p class=\"lead\">{}</p>\n", lead_text(rows, components, drawing.labels));
  body += "<figure class=\"scroll\" tabindex=\"0\">\n" + drawing.svg + "</figure>\n";
  body += fmt::format(
      "<section>\n<h2>Shares of variance</h2>\n<div class=\"scroll\" tabindex=\"0\">\n{}</div>\n</section>\n",
      shares_table(components.shares));
  if (!rows.origin.empty())
    body += fmt::format("<section>\n<h2>Model</h2>\n<pre>{}</pre>\n</section>\n", html_text(rows.origin));
  return page_document(rows.title, body);
}

}  // namespace lapse::apps
