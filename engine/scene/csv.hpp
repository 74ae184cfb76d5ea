#pragma once
// Tables as comma-separated values: a header of names, each with a unit in brackets ("north [mm]") or in SI, then numbers.
// `#` begins a comment, a cell may stand in double quotes. Errors: InputError with file, line and column.

#include <string>
#include <vector>

#include "engine/scene/units.hpp"

namespace supple {

struct CsvCell {
  std::string text;
  int column = 1;  // in its line, from 1
};

struct CsvLine {
  std::vector<CsvCell> cells;
  Place place;
  Place at(std::size_t cell) const;
};

struct CsvColumn {
  std::string name;
  std::string unit;  // "": SI
};

// Without white space at both ends.
std::string trimmed(const std::string& text);

// The lines that are neither empty nor comments; `name` stands in messages.
std::vector<CsvLine> parse_csv(const std::string& text, const std::string& name);
std::vector<CsvLine> read_csv(const std::string& path);

CsvColumn csv_column(const CsvCell& cell);
// Size in SI of the column's unit.
double csv_unit(const CsvColumn& column, Dimension dimension, const Place& place);
// A finite number.
double csv_number(const CsvLine& line, std::size_t cell);

}  // namespace supple
