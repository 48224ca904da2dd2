#include "apps/report/svg.hpp"

#include <fmt/format.h>

#include "apps/html/html_text.hpp"
#include "apps/report/chart_style.hpp"
#include "apps/report/number_text.hpp"

namespace lapse::apps {

namespace {

constexpr std::string_view kEllipsis = "\u2026";
constexpr double kHitRadius = 8;

bool starts_character(char c) {
  return (static_cast<unsigned char>(c) & 0xc0U) != 0x80;
}

// In units of the font's size. Letters beyond ASCII may be as wide as the font is high.
double character_width(char c) {
  if (static_cast<unsigned char>(c) >= 0x80) return 1;
  if (std::string_view("il.,;:'|!() jtfrI").find(c) != std::string_view::npos) return 0.42;
  if (std::string_view("mwMW@%").find(c) != std::string_view::npos) return 0.98;
  return c >= 'A' && c <= 'Z' ? 0.76 : 0.64;
}

}  // namespace

double text_width(std::string_view text, double size) {
  double width = 0;
  for (const char c : text)
    if (starts_character(c)) width += character_width(c);
  return width * size;
}

std::string shortened(std::string_view text, double width, double size) {
  if (text_width(text, size) <= width) return std::string(text);
  const double left = width - text_width(kEllipsis, size);
  std::size_t end = 0;
  for (std::size_t next = 1; next <= text.size(); ++next) {
    if (next < text.size() && !starts_character(text[next])) continue;
    if (text_width(text.substr(0, next), size) > left) break;
    end = next;
  }
  return std::string(text.substr(0, end)) + std::string(kEllipsis);
}

std::string coordinate(double value) {
  std::string text = fixed_text(value, 1);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

std::string svg_text(double x, double y, std::string_view text, std::string_view attributes) {
  return fmt::format("<text x=\"{}\" y=\"{}\"{}>{}</text>\n", coordinate(x), coordinate(y), attributes,
                     html_text(text));
}

std::string svg_mark(double x, double y, std::size_t number, std::string_view tip,
                     std::string_view more_class) {
  const std::string mark =
      fmt::format("<path class=\"mark {}{}\" d=\"{}\"", colour_class(number), more_class, mark_path(number));
  if (tip.empty())
    return fmt::format("{} transform=\"translate({} {})\"/>\n", mark, coordinate(x), coordinate(y));
  return fmt::format(
      "<g transform=\"translate({} {})\"><title>{}</title><circle class=\"hit\" r=\"{}\"/>{}/></g>\n",
      coordinate(x), coordinate(y), html_text(tip), coordinate(kHitRadius), mark);
}

std::string svg_document(std::string_view picture) {
  const std::size_t end = picture.find('>') + 1;
  return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n<style>\n{}</style>{}",
                     picture.substr(0, end), chart_style(), picture.substr(end));
}

}  // namespace lapse::apps
