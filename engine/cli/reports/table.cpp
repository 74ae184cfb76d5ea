#include "engine/cli/reports/table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace supple::cli {

namespace {

// Characters, not bytes, of UTF-8.
std::size_t length(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string spaces(std::size_t n) {
  return std::string(n, ' ');
}

}  // namespace

void print_facts(const Facts& facts) {
  std::size_t width = 0;
  for (const auto& [label, value] : facts) width = std::max(width, length(label));
  for (const auto& [label, value] : facts) {
    std::string text = label + spaces(width - length(label) + 2);
    for (const char c : value) {
      text += c;
      if (c == '\n') text += spaces(width + 2);
    }
    fmt::print("{}\n", text);
  }
}

std::string format_table(const std::vector<std::vector<std::string>>& rows, const std::vector<std::size_t>& right) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (c == widths.size()) widths.push_back(0);
      widths[c] = std::max(widths[c], length(row[c]));
    }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string gap = spaces(widths[c] - length(row[c]));
      const bool to_right = std::find(right.begin(), right.end(), c) != right.end();
      line += (c > 0 ? "  " : "") + (to_right ? gap + row[c] : row[c] + gap);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string percent(double fraction) {
  return fmt::format("{:.3g} %", 100 * fraction);
}

}  // namespace supple::cli
