// The text files of SOFA's ModelOrderReduction: what is read, what is refused and where, and that writing is reading
// backwards.

#include "engine/sofa/sofa_files.hpp"

#include <gtest/gtest.h>

#include "kernels/base/error.hpp"

namespace supple {
namespace {

const char* const small_modes =
    "3 2\n"
    "   0.10000   -0.20000\n"
    "   0.30000    0.40000\n"
    "   1e-3       +5\n";

TEST(SofaFiles, ModesAreReadColumnByColumn) {
  const SofaModes modes = parse_sofa_modes(small_modes, "modes.txt");
  EXPECT_EQ(modes.rows, 3);
  EXPECT_EQ(modes.modes, 2);
  EXPECT_EQ(modes.values, (std::vector<double>{0.1, 0.3, 1e-3, -0.2, 0.4, 5}));
  EXPECT_EQ(modes.file, "modes.txt");
}

TEST(SofaFiles, ElementsAndWeightsAreColumns) {
  EXPECT_EQ(parse_sofa_elements("3 1\n7\n0\n7\n", "a"), (std::vector<int>{7, 0, 7}));
  EXPECT_EQ(parse_sofa_elements("0 1\n", "a"), std::vector<int>{});
  EXPECT_EQ(parse_sofa_elements("0 1", "a"), std::vector<int>{});
  EXPECT_EQ(parse_sofa_weights("2 1\r\n   0.00000\r\n  12.50000\r\n\r\n", "a"), (std::vector<double>{0, 12.5}));
}

TEST(SofaFiles, WhatIsWrittenIsRead) {
  const std::vector<double> values{0.1, 1.0 / 3, -1e-17, 2e300, 5e-324, -0.0};
  const SofaModes modes = parse_sofa_modes(format_sofa_modes(values, 3, 2, SofaDigits::exact), "a");
  EXPECT_EQ(modes.values, values);
  EXPECT_EQ(parse_sofa_weights(format_sofa_weights(values, SofaDigits::exact), "a"), values);
  const std::vector<int> elements{5, 0, 2147483647};
  EXPECT_EQ(parse_sofa_elements(format_sofa_elements(elements), "a"), elements);
  EXPECT_EQ(format_sofa_elements({}), "0 1\n");
  EXPECT_EQ(format_sofa_weights(std::vector<double>{0, 1.0 / 3}, SofaDigits::five_decimals),
            "2 1\n   0.00000\n   0.33333\n");
}

enum class Kind { modes, elements, weights };

struct Wrong {
  const char* what;
  Kind kind;
  std::string text;
  int line;
  const char* problem;
};

class SofaFilesRefuse : public testing::TestWithParam<Wrong> {};

TEST_P(SofaFilesRefuse, WithPlaceAndRemedy) {
  const Wrong& wrong = GetParam();
  try {
    if (wrong.kind == Kind::modes)
      (void)parse_sofa_modes(wrong.text, "x.txt");
    else if (wrong.kind == Kind::elements)
      (void)parse_sofa_elements(wrong.text, "x.txt");
    else
      (void)parse_sofa_weights(wrong.text, "x.txt");
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(error.place().file, "x.txt");
    EXPECT_EQ(error.place().line, wrong.line);
    EXPECT_NE(std::string(error.what()).find(wrong.problem), std::string::npos) << error.what();
    EXPECT_FALSE(error.suggestion().empty());
  }
}

const Wrong wrong_files[] = {
    {"empty", Kind::modes, "", 1, "first line is empty"},
    {"one_number", Kind::modes, "3\n1\n2\n3\n", 1, "expected number of modes"},
    {"three_numbers", Kind::modes, "3 1 0\n1\n2\n3\n", 1, "more than two numbers"},
    {"word_in_head", Kind::weights, "many 1\n", 1, "not a whole number"},
    {"negative_rows", Kind::modes, "-3 1\n1\n2\n3\n", 1, "negative"},
    {"no_modes", Kind::modes, "3 0\n\n\n\n", 1, "no modes"},
    {"rows_of_no_node", Kind::modes, "4 1\n1\n2\n3\n4\n", 1, "not three a node"},
    {"more_than_the_file_holds", Kind::modes, "3000000 2000000\n1 2\n", 1, "bytes"},
    {"more_than_fits", Kind::weights, "99999999999999999999 1\n", 1, "not a whole number"},
    {"row_missing", Kind::modes, "3 1\n1.0\n2.0\n", 4, "row 3 of 3 is missing"},
    {"empty_line", Kind::weights, "2 1\n1.0\n\n2.0\n", 3, "row 2 of 2 is missing"},
    {"short_row", Kind::modes, "3 2\n1.0 2.0\n3.0\n4.0 5.0\n", 3, "row 2 has 1 numbers"},
    {"long_row", Kind::modes, "3 2\n1 2\n3 4 5\n5 6\n", 3, "continues after 2 modes"},
    {"surplus_row", Kind::elements, "1 1\n7\n8\n", 3, "more lines than the 1"},
    {"no_number", Kind::modes, "3 1\n1\nx\n3\n", 3, "not a number"},
    {"not_finite", Kind::modes, "3 1\n1\nnan\n3\n", 3, "not a finite number"},
    {"two_columns", Kind::weights, "1 2\n1 2\n", 1, "2 columns announced"},
    {"negative_element", Kind::elements, "1 1\n-4\n", 2, "no number of an element"},
    {"fraction_of_an_element", Kind::elements, "1 1\n4.5\n", 2, "not a whole number"},
    {"huge_element", Kind::elements, "1 1\n3000000000\n", 2, "no number of an element"},
    {"two_elements_a_line", Kind::elements, "2 1\n4 5\n6\n", 2, "continues after"},
};
INSTANTIATE_TEST_SUITE_P(Text, SofaFilesRefuse, testing::ValuesIn(wrong_files),
                         [](const auto& info) { return info.param.what; });

TEST(SofaFiles, AMissingFileIsNamed) {
  EXPECT_THROW((void)read_sofa_modes("/nowhere/modes.txt"), InputError);
  EXPECT_THROW((void)read_sofa_domain("/nowhere/RID.txt", "/nowhere/weight.txt"), InputError);
}

}  // namespace
}  // namespace supple
