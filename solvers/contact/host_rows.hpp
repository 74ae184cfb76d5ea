#pragma once
// One core's loops over the rows of a contact problem (kernels/points/scaled_contact.hpp), with packs of the vector
// units and blocked factors; and its problem in memory.

#include "kernels/points/contact_newton.hpp"
#include "solvers/contact/contact.hpp"
#include "solvers/dense/pack.hpp"

namespace supple::contact {

class HostRows {
 public:
  // Memory for n rows.
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
  // The solution in work.right; false if there is none.
  bool solve_newton(const ScaledContact& p, const NewtonWork& k, int active);

 private:
  double *matrix_, *left_, *products_, *panel_;
  int* pivots_;
};

// Views into memory; then filled. False: not finite, or limits that exclude each other.
bool load(const ContactProblem& problem, double*& memory, ScaledContact& p);
std::size_t scaled_memory(int boxes, int contacts);

}  // namespace supple::contact
