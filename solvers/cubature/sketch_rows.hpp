#pragma once
// Fewer rows with nearly the same lengths: a sparse sign sketch S (each row of G is added with random signs to a few
// rows of S G), so that || S G x || is || G x || within about sqrt(n / rows of the sketch) for x with n entries that
// are not zero (K. Clarkson & D. Woodruff, "Low-rank approximation and regression in input sparsity time", JACM 2017;
// J. Nelson & H. Nguyen, "OSNAP", 2013). Rows come in blocks and are not kept: memory does not grow with their number.
// What is chosen on the sketch is fitted again on all rows (refit_weights).

#include <cstdint>
#include <span>
#include <vector>

namespace supple {

class RowSketch {
 public:
  /// Of `rows` rows in `columns` columns, or in those listed. With at most `sketch_rows` rows they are kept as they
  /// are.
  RowSketch(int rows, int columns, int sketch_rows, std::uint64_t seed = 1, std::vector<int> listed = {});

  /// Rows first_row ... of G: block is count x columns, column-major. Any order of blocks gives the same sketch but for
  /// rounding; every row once.
  void add(std::span<const double> block, int first_row, int count);

  /// The same by others, such as a GPU: where the rows first_row ... of G go. Row t of the sketch takes the rows
  /// source[e] of the block times factor[e], e in [start[t], start[t + 1]), in this order, which is that of add.
  struct Lists {
    std::vector<int> start, source;
    std::vector<double> factor;
  };
  Lists lists(int first_row, int count) const;
  const std::vector<int>& listed() const { return listed_; }
  /// Columns first ... of those kept, for what was added elsewhere.
  std::span<double> columns(std::size_t first, std::size_t count) {
    return std::span(matrix_).subspan(first * static_cast<std::size_t>(rows_), count * static_cast<std::size_t>(rows_));
  }

  int rows() const { return rows_; }
  const std::vector<double>& matrix() const { return matrix_; }  // rows() x columns kept, column-major

 private:
  struct Places {
    std::vector<int> target;
    std::vector<double> factor;  // `copies` of each for every row
  };
  Places places(int first_row, int count) const;

  int columns_, rows_;
  std::vector<int> listed_;
  bool exact_;
  std::uint64_t seed_;
  std::vector<double> matrix_;
};

}  // namespace supple
