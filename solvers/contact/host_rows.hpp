#pragma once
// One core's loops over the rows of a contact problem (kernels/contact/scaled_contact.hpp), with packs of the vector
// units and blocked factors; and its problem in memory.

#include "kernels/contact/contact_newton.hpp"
#include "solvers/contact/contact.hpp"
#include "solvers/dense/pack.hpp"

namespace supple::contact {

class HostRows {
 public:
  /// Memory for n rows of one problem.
  HostRows(int n, double* numbers, int* indices);
  static std::size_t numbers(int n);
  static std::size_t indices(int n);

  NewtonWork work;

  template <class F>
  void each(int n, F f) {
    for (int i = 0; i < n; ++i) f(i);
  }
  template <class F>
  void once(F f) {
    f();
  }
  template <int K, class F>
  void largest(int n, double* most, F f) {
    for (int i = 0; i < n; ++i) f(i, most);
  }
  template <class F>
  double sum(int n, F f) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += f(i);
    return sum;
  }
  void gather(const ScaledContact& p, double factor, const double* x, double* u) const;
  void spread(const ScaledContact& p, const double* u, double* y) const {
    for (int i = 0; i < p.n; ++i) y[i] = dot(p.row(i), u, p.ld);
  }
  void apply(const ScaledContact& p, const double* x, double* y) const;
  template <int K>
  void present(const ScaledContact& p, int i, double* w) const {
    for (int k = i; k < i + K; ++k)
      w[k - i] = p.factored ? dot(p.row(k), p.u, p.ld) + p.d[k] + p.compliance[k] * p.lambda[k] : p.w[k];
  }
  template <int K>
  void move(const ScaledContact& p, int i, const double* by) const {
    for (int k = i; k < i + K; ++k) {
      if (by[k - i] == 0) continue;
      p.lambda[k] += by[k - i];
      add_scaled(p.factored ? p.u : p.w, by[k - i], p.row(k), p.factored ? p.ld : p.n);
      if (!p.factored) p.w[k] += p.compliance[k] * by[k - i];
    }
  }
  bool solve_newton(const ScaledContact& p, const NewtonWork& k, int active);

 private:
  int ld_;
  double *matrix_, *left_, *right_, *factors_, *panel_;
  // W = V V^T of the rows that slots have used so far, and those rows of V as columns.
  int known_ = 0;
  double *gram_, *columns_;
  int* place_;  // of a row there, -1: not yet
  int *pivots_, *columns_of_slots_;

  static void combine(const double* factors, int rows, const double* matrix, int ld, int length, double* to);
  void extend_gram(const ScaledContact& p, const NewtonWork& k, int active);
  bool solve_in_modes(const ScaledContact& p, const NewtonWork& k, int active);
};

/// Views into memory; then filled. False: not finite, or limits that exclude each other.
bool load(const ContactProblem& problem, double*& memory, ScaledContact& p);
std::size_t scaled_memory(int boxes, int contacts);

}  // namespace supple::contact
