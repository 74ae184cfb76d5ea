#pragma once
// Forces of a field whose strains are modes (StrainModes). With s_k = L_k x + 1/2 x^T Q_k x and W = ds/dx = L + Q x,
//   energy e/2 |s|^2,   f = e W^T s,   K = e (W^T W + sum_k s_k Q_k),
// e a factor on the moduli. Exact: nothing is integrated. Modes go by in groups, whose Q is read once from far for W and
// s, and from near for K.

#include <vector>

#include "engine/model/reduced_model.hpp"
#include "kernels/elements/tiles.hpp"

namespace supple {

// Of one thread. Rows of n are padded to whole vectors (StrainForces::row).
struct StrainScratch {
  AlignedVector<double> x;             // [row]
  AlignedVector<double> W;             // [modes, padded][row]
  AlignedVector<double> s;             // [modes, padded]
  AlignedVector<double> f, magnitude;  // [row]
  AlignedVector<double> K;             // [n][row], lower triangle; what lies beyond it is not zero
  AlignedVector<double> products;      // [4][row], of derivatives; or [modes + n][row]
};

class StrainForces {
 public:
  // n: columns of the model. Where single precision holds every Q, Q is kept in it.
  StrainForces(const StrainModes& modes, int n);

  // n rounded up to whole vectors.
  static int row(int n);
  int count() const { return count_; }
  // For this field, and for smaller ones; x, f and magnitude are zero then.
  void reserve(StrainScratch& scratch) const;
  enum class Tangent { none, set, add };
  // s and W at x [n], in the scratch; adds f and magnitude (sum_k |e W_ki s_k|) to what it holds, and sets K or adds to it.
  void evaluate(const double* x, double e, Tangent tangent, StrainScratch& scratch) const;
  // Of E(x) = f(x) + factor K(x) z with `share` of sum_k s_k Q_k in K, z [n] held: out [n] += (dE/dx)^T w. Returns w . E.
  double pull_back(const double* x, const double* z, const double* w, double e, double factor, double share,
                   StrainScratch& scratch, double* out) const;
  // J [n x n] += dE/dx of the same E.
  void add_jacobian(const double* x, const double* z, double e, double factor, double share, StrainScratch& scratch,
                    double* J) const;
  // out [n (n + 1) / 2] += e sum_k s_k Q_k, s [count].
  void add_geometric(const double* s, double e, double* out) const;

 private:
  double quadratic(int k, int i, int j) const {
    const std::size_t at = (static_cast<std::size_t>(k) * static_cast<std::size_t>(n_) + static_cast<std::size_t>(i)) *
                               static_cast<std::size_t>(row_) +
                           static_cast<std::size_t>(j);
    return single_.empty() ? quadratic_[at] : static_cast<double>(single_[at]);
  }
  template <class S>
  double pull_back_with(const S* Q, const double* x, const double* z, const double* w, double e, double factor,
                        double share, StrainScratch& scratch, double* out) const;
  template <class S>
  void add_jacobian_with(const S* Q, const double* z, double e, double factor, double share, StrainScratch& scratch,
                         double* J) const;
  template <class S>
  void evaluate_with(const S* Q, double e, Tangent tangent, StrainScratch& scratch) const;

  int n_, row_, count_, padded_;
  AlignedVector<double> linear_;     // [padded][row]
  AlignedVector<float> single_;      // [padded][n][row] Q, symmetric; or
  AlignedVector<double> quadratic_;  // the same
};

}  // namespace supple
