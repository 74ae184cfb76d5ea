#pragma once
// The implementations behind make_sparse_direct.

#include <memory>

#include "solvers/sparse/direct.hpp"

namespace supple {

/// A pivot that elimination brought below this fraction of what it started from makes the matrix singular. A free body
/// leaves 1e-15 to 1e-13 by rounding; a beam a hundred times longer than its elements still has 1e-7.
constexpr double sparse_singular_pivot = 1e-12;
/// Without pivoting (multifrontal.hpp): the square of an entry of L in a column that is negative, as a share of A's
/// diagonal entry of its row. Of sixteen digits ten remain at least.
constexpr double sparse_most_growth = 1e6;
/// The same for an indefinite matrix that is nearly singular: a pivot below this share of its diagonal entry. Robots have
/// 1e-4 and more. A body that rows hold, with 1e-8, ended a hundred times farther from its rows than with pivoting.
constexpr double sparse_nearly_singular = 1e-6;

std::unique_ptr<SparseDirect> make_sparse_cholesky();
std::unique_ptr<SparseDirect> make_sparse_eigen();
bool have_mumps();
std::unique_ptr<SparseDirect> make_sparse_mumps();     // null where MUMPS is not built in
std::unique_ptr<SparseDirect> make_sparse_cudss();     // only in builds with cuDSS
std::unique_ptr<SparseDirect> make_sparse_pivoting();  // MUMPS where it is built in, else Eigen

}  // namespace supple
