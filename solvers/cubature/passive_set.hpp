#pragma once
// The chosen columns G_S with their weights w >= 0 and the Cholesky factor L of the Gram matrix H = G_S^T G_S, kept up
// to date as columns come and go. With Q = G_S L^-T this is a thin QR factorisation of which Q is never formed.

#include <span>
#include <utility>
#include <vector>

#include "solvers/cubature/column_products.hpp"

namespace supple {

/// What removing a column did to Q: for k = position, position + 1, ... columns k and k + 1 of Q became
///   (c q_k + s q_k+1,   c q_k+1 - s q_k);
/// the last one then left the basis.
struct Removal {
  int column = 0;
  int position = 0;
  std::vector<std::pair<double, double>> rotations;  // (c, s)
};

class PassiveSet {
 public:
  /// G and y must outlive the set.
  PassiveSet(const ColumnMatrix& G, const double* y);

  int size() const { return static_cast<int>(columns_.size()); }
  const std::vector<int>& columns() const { return columns_; }  // in the order of the factor
  const std::vector<double>& weights() const { return weights_; }
  const std::vector<double>& factor_row(int i) const { return factor_[i]; }  // L_i0 ... L_ii
  const std::vector<double>& residual() const { return residual_; }          // y - G_S w
  double relative_residual() const { return relative_residual_; }            // of ||y||; 0 if y = 0

  /// Adds a column with the given weight, not fitted yet. False, and nothing changed, if it depends on the present
  /// ones.
  bool append(int column, double weight = 0);
  /// Adds columns to an empty set as append does one by one, but for rounding, and reads them far fewer times.
  void append_all(std::span<const int> columns, std::span<const double> weights);
  Removal remove(int position);
  /// min || G_S w - y || over w >= 0 from the present weights; columns whose weight gets to zero leave (Lawson &
  /// Hanson, ch. 23).
  std::vector<Removal> refit();

  /// H^-1, dense row-major.
  std::vector<double> inverse_gram() const;
  /// x = H^-1 x
  void solve(std::vector<double>& x) const;

 private:
  void update_residual();
  // With row = G_S^T g and its squared length; false if it depends on the present ones.
  bool append_products(int column, double weight, std::vector<double> row, double length);

  ColumnMatrix G_;
  const double* y_;
  double y_norm_;
  std::vector<int> columns_;
  std::vector<double> weights_;
  std::vector<double> target_;  // G_S^T y
  std::vector<std::vector<double>> factor_;
  std::vector<double> residual_;
  double relative_residual_;
};

}  // namespace supple
