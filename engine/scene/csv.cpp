#include "engine/scene/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace supple {

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

namespace {

std::vector<CsvCell> split_cells(const std::string& line, const Place& place) {
  std::vector<CsvCell> cells{{"", 1}};
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      cells.push_back({"", static_cast<int>(i) + 2});
    else
      cells.back().text += c;
  }
  if (quoted) throw InputError("a quotation mark is not closed", "\"", place);
  for (CsvCell& cell : cells) cell.text = trimmed(cell.text);
  return cells;
}

}  // namespace

Place CsvLine::at(std::size_t cell) const {
  Place here = place;
  here.column = cells[cell].column;
  return here;
}

std::vector<CsvLine> parse_csv(const std::string& text, const std::string& name) {
  std::vector<CsvLine> lines;
  std::size_t begin = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  for (int number = 1; begin < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.ends_with('\r')) line.pop_back();
    const std::string content = trimmed(line);
    if (content.empty() || content[0] == '#') continue;
    const Place place{name, number, 0, line.size() <= 200 ? line : ""};
    lines.push_back({split_cells(line, place), place});
  }
  return lines;
}

std::vector<CsvLine> read_csv(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    throw InputError("cannot read the file", "check the path", {path, 0, 0, ""});
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file) throw InputError("cannot read the file", "check the path", {path, 0, 0, ""});
  return parse_csv(text, path);
}

CsvColumn csv_column(const CsvCell& cell) {
  const std::string& text = cell.text;
  const auto open = text.rfind('[');
  if (open == std::string::npos || !text.ends_with(']')) return {text, ""};
  return {trimmed(text.substr(0, open)), trimmed(text.substr(open + 1, text.size() - open - 2))};
}

double csv_unit(const CsvColumn& column, Dimension dimension, const Place& place) {
  return column.unit.empty() ? 1 : parse_unit(column.unit, dimension, place);
}

double csv_number(const CsvLine& line, std::size_t cell) {
  const std::string& text = line.cells[cell].text;
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, value);
  if (text.empty())
    throw InputError("a number is missing here", "fill the cell; units stand in the header", line.at(cell));
  if (status != std::errc() || stop != end || !std::isfinite(value))
    throw InputError(fmt::format("'{}' is not a number", text), "a number; units stand in the header", line.at(cell));
  return value;
}

}  // namespace supple
