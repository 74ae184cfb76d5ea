#pragma once
// The implementations behind make_sparse_direct.

#include <memory>

#include "solvers/sparse/direct.hpp"

namespace supple {

// A pivot below this fraction of the largest one makes the matrix singular.
constexpr double sparse_singular_pivot = 1e-14;

std::unique_ptr<SparseDirect> make_sparse_eigen();
bool have_mumps();
std::unique_ptr<SparseDirect> make_sparse_mumps();  // null where MUMPS is not built in

}  // namespace supple
