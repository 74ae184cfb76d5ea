#include "engine/sofa/sofa_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "engine/mesh/scanner.hpp"
#include "kernels/base/extent.hpp"

namespace supple {

namespace {

// Reads line by line; each line is a scanner of its own, so that no number is taken from the next one.
class Lines {
 public:
  Lines(std::string_view text, const std::string& file) : text_(text), all_(text, file) {}

  Scanner next() {
    const std::size_t begin = all_.position();
    const std::size_t length = all_.line().size();
    return {text_, all_.file(), begin, begin + length};
  }
  // The bytes that are left hold at least `bytes_each` for each of `number` things.
  int checked_count(std::int64_t number, const char* what, std::size_t bytes_each) const {
    return all_.checked_count(number, what, bytes_each);
  }
  void expect_end(int rows) {
    if (all_.at_end()) return;
    (void)all_.word("nothing");
    all_.fail(fmt::format("more lines than the {} that the first line announces", rows),
              "correct the first line, or write the file again");
  }

 private:
  std::string_view text_;
  Scanner all_;
};

struct Size {
  int rows, columns;
};

// "rows columns" of the first line; every number takes two bytes or more.
Size read_size(Lines& lines, const char* what, const char* columns_are) {
  Scanner head = lines.next();
  const std::string form = fmt::format("the first line is \"{}\"", what);
  if (head.at_end()) head.fail("the first line is empty", form);
  const std::int64_t rows = head.integer("number of rows");
  const std::int64_t columns = head.integer(columns_are);
  if (!head.at_end()) {
    (void)head.word("nothing");
    head.fail("more than two numbers in the first line", form);
  }
  // A file of no rows is one line.
  if (rows == 0 && columns == 1) return {0, 1};
  Size size{};
  size.columns = lines.checked_count(columns, columns_are, 2);
  size.rows = lines.checked_count(rows, "number of rows", std::max<std::size_t>(1, extent(2, size.columns)));
  return size;
}

// The next line, which must have something on it.
Scanner read_row(Lines& lines, int row, int rows) {
  Scanner line = lines.next();
  if (line.at_end())
    line.fail(fmt::format("row {} of {} is missing (the line is empty)", row + 1, rows),
              "the first line announces the rows: correct it, or write the file again");
  return line;
}

void expect_end_of_row(Scanner& line, const std::string& expected) {
  if (line.at_end()) return;
  (void)line.word("nothing");
  line.fail(fmt::format("the line continues after {}", expected), "correct this line, or write the file again");
}

// A file of one column.
template <class T, class Read>
std::vector<T> parse_column(std::string_view text, const std::string& file, const char* head, Read read) {
  Lines lines(text, file);
  Scanner first = Lines(text, file).next();
  const Size size = read_size(lines, head, "number of columns");
  if (size.columns != 1)
    first.fail(fmt::format("{} columns announced where there is one", size.columns),
               fmt::format("the first line is \"{}\"; is this a file of modes?", head));
  std::vector<T> values;
  values.reserve(static_cast<std::size_t>(size.rows));
  for (int i = 0; i < size.rows; ++i) {
    Scanner line = read_row(lines, i, size.rows);
    values.push_back(read(line));
    expect_end_of_row(line, "its number");
  }
  lines.expect_end(size.rows);
  return values;
}

void append(std::string& text, double value, SofaDigits digits) {
  if (digits == SofaDigits::exact)
    fmt::format_to(std::back_inserter(text), "{}", value);
  else
    fmt::format_to(std::back_inserter(text), "{:10.5f}", value);
}

}  // namespace

SofaModes parse_sofa_modes(std::string_view text, const std::string& file) {
  Lines lines(text, file);
  Scanner first = Lines(text, file).next();
  const Size size = read_size(lines, "ROWS MODES", "number of modes");
  if (size.rows == 0 || size.columns == 0) first.fail("there are no modes", "write the file again");
  if (size.rows % 3 != 0)
    first.fail(fmt::format("{} rows are not three a node", size.rows),
               "modes of a deformable body, as many rows as it has unknowns");
  SofaModes modes{file, size.rows, size.columns, {}};
  modes.values.resize(extent(size.rows, size.columns));
  for (int i = 0; i < size.rows; ++i) {
    Scanner line = read_row(lines, i, size.rows);
    for (int m = 0; m < size.columns; ++m) {
      if (line.at_end())
        line.fail(fmt::format("row {} has {} numbers (the first line announces {} modes)", i + 1, m, size.columns),
                  "correct the first line, or write the file again");
      modes.values[extent(m, size.rows) + static_cast<std::size_t>(i)] = line.real("a value of a mode");
    }
    expect_end_of_row(line, fmt::format("{} modes", size.columns));
  }
  lines.expect_end(size.rows);
  return modes;
}

std::vector<int> parse_sofa_elements(std::string_view text, const std::string& file) {
  return parse_column<int>(text, file, "N 1", [](Scanner& line) {
    const std::int64_t element = line.integer("the number of an element");
    if (element < 0 || element > std::numeric_limits<int>::max())
      line.fail(fmt::format("{} is no number of an element", element), "elements count from 0");
    return static_cast<int>(element);
  });
}

std::vector<double> parse_sofa_weights(std::string_view text, const std::string& file) {
  return parse_column<double>(text, file, "ELEMENTS 1", [](Scanner& line) { return line.real("a weight"); });
}

SofaModes read_sofa_modes(const std::string& file) {
  return parse_sofa_modes(read_bytes(file, "modes"), file);
}

SofaDomain read_sofa_domain(const std::string& rid_file, const std::string& weight_file) {
  return {rid_file, weight_file, parse_sofa_elements(read_bytes(rid_file, "elements"), rid_file),
          parse_sofa_weights(read_bytes(weight_file, "weights"), weight_file)};
}

std::string format_sofa_modes(std::span<const double> values, int rows, int modes, SofaDigits digits) {
  std::string text = fmt::format("{} {}\n", rows, modes);
  for (int i = 0; i < rows; ++i)
    for (int m = 0; m < modes; ++m) {
      append(text, values[extent(m, rows) + static_cast<std::size_t>(i)], digits);
      text += m + 1 < modes ? ' ' : '\n';
    }
  return text;
}

std::string format_sofa_elements(std::span<const int> elements) {
  std::string text = fmt::format("{} 1\n", elements.size());
  for (const int element : elements) fmt::format_to(std::back_inserter(text), "{}\n", element);
  return text;
}

std::string format_sofa_weights(std::span<const double> weights, SofaDigits digits) {
  std::string text = fmt::format("{} 1\n", weights.size());
  for (const double weight : weights) {
    append(text, weight, digits);
    text += '\n';
  }
  return text;
}

}  // namespace supple
