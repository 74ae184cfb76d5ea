#pragma once
// Columns of text for people on stdout.

#include <string>
#include <utility>
#include <vector>

namespace supple::cli {

// "label   value" lines; labels padded to the longest. Lines of a value after its first are indented.
using Facts = std::vector<std::pair<std::string, std::string>>;
void print_facts(const Facts& facts);

// Columns as wide as their widest cell; those in `right` (by number) to the right. The first row is the header.
std::string format_table(const std::vector<std::vector<std::string>>& rows, const std::vector<std::size_t>& right = {});

// "0.37 %" of 0.0037.
std::string percent(double fraction);

}  // namespace supple::cli
