#include "apps/html/html_text.hpp"

#include "lapse/core/utf8.hpp"

namespace lapse::apps {

namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

std::string_view escape_of(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    default:
      return {};
  }
}

bool is_of_xml(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 || c == '\t' || c == '\n' || c == '\r';
}

}  // namespace

std::string replaced_utf8(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const std::size_t bytes = valid_utf8_bytes(text);
    valid += text.substr(0, bytes);
    text.remove_prefix(bytes);
    if (text.empty()) break;
    valid += kReplacement;
    text.remove_prefix(1);
  }
  return valid;
}

std::string html_text(std::string_view text) {
  std::string html;
  for (const char c : replaced_utf8(text)) {
    const std::string_view escape = escape_of(c);
    if (!escape.empty())
      html += escape;
    else if (is_of_xml(c))
      html += c;
    else
      html += kReplacement;
  }
  return html;
}

}  // namespace lapse::apps
