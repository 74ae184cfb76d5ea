#pragma once
// The text files in which SOFA's ModelOrderReduction keeps a reduced model (docs/reference/sofa-files.md):
//
//   modes.txt      "rows modes", then one line a row with one number a mode; rows are x, y, z of node 0, of node 1, ...
//   *_RID.txt      "n 1", then one element a line, counted from 0
//   *_weight.txt   "elements 1", then one weight a line, for every element of the force field
//
// Reading is strict: as many lines and numbers as the first line announces and nothing after them but blank lines.
// Every parser throws InputError with file, line and column.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace supple {

struct SofaModes {
  std::string file;  // as given, for messages
  int rows = 0;      // 3 nodes
  int modes = 0;
  std::vector<double> values;  // rows x modes, column-major; no unit
};
SofaModes parse_sofa_modes(std::string_view text, const std::string& file);
// Elements in the file's order, as they are: repeated ones and ones that do not exist are for the caller to find.
std::vector<int> parse_sofa_elements(std::string_view text, const std::string& file);
std::vector<double> parse_sofa_weights(std::string_view text, const std::string& file);

// The reduced integration domain of one force field.
struct SofaDomain {
  std::string rid_file, weight_file;
  std::vector<int> elements;    // of the domain
  std::vector<double> weights;  // of all elements
};

SofaModes read_sofa_modes(const std::string& file);
SofaDomain read_sofa_domain(const std::string& rid_file, const std::string& weight_file);

// Line of element or row `index` in any of the files.
constexpr int sofa_line(int index) {
  return index + 2;
}

// exact: as many digits as give the number back; five_decimals: "%10.5f", as SOFA's own tools write.
enum class SofaDigits { exact, five_decimals };
// values: rows x modes, column-major.
std::string format_sofa_modes(std::span<const double> values, int rows, int modes, SofaDigits digits);
std::string format_sofa_elements(std::span<const int> elements);
std::string format_sofa_weights(std::span<const double> weights, SofaDigits digits);

}  // namespace supple
