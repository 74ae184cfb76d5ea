#pragma once
// Forces of a field whose strains are modes (StrainModes). With s_k = L_k x + 1/2 x^T Q_k x and W = ds/dx = L + Q x,
//   energy e/2 |s|^2,   f = e W^T s,   K = e (W^T W + sum_k s_k Q_k),
// e a factor on the moduli. Exact: nothing is integrated. Q is read once for W and s, once for K.

#include <vector>

#include "engine/model/reduced_model.hpp"

namespace supple {

// What evaluate_strains leaves: s [K], and W as [K][n] and, columns padded with zeros, [n][K].
struct StrainScratch {
  std::vector<double> s, W;
  AlignedVector<double> columns;
  // For fields of up to `most` modes.
  void reserve(int most, int n);
};

void evaluate_strains(const StrainModes& modes, int n, const double* x, StrainScratch& scratch);
double strain_energy(const StrainModes& modes, double scale, const StrainScratch& scratch);
// Of the first r columns: f += forces, magnitude += sum_k |terms|.
void add_strain_forces(const StrainModes& modes, int n, int r, double scale, const StrainScratch& scratch, double* f,
                       double* magnitude);
// sums += e W^T W (tile_rank_update), geometric += e sum_k s_k Q_k [n (n + 1) / 2].
void add_strain_stiffness(const StrainModes& modes, int n, double scale, StrainScratch& scratch, double* sums,
                          double* geometric);

}  // namespace supple
