#pragma once
// A sparse solver whose symbolic analysis outlives the model that asked for it, and whose last factor others may solve
// with: models beside each other have the same pattern, and nearly the same matrix.

#include <memory>
#include <string>

#include "solvers/sparse/direct.hpp"

namespace supple {

bool same_pattern(const SymmetricPattern& a, const SymmetricPattern& b);

class LentFactor {
 public:
  /// A solver for one model: the analysis is kept if its pattern and kind of matrix are those of the last one.
  std::unique_ptr<SparseDirect> solver();
  /// One that solves with the last factor of solver(), whatever matrix of the same pattern it is given: Newton's method
  /// converges linearly with it, by as much as both matrices differ. Only while there is a factor, and as long as this
  /// object lives.
  std::unique_ptr<SparseDirect> borrowed();
  bool factored() const { return factored_; }
  /// The next factor is another model's.
  void forget() { factored_ = false; }

 private:
  class Own;
  class Borrowed;

  std::unique_ptr<SparseDirect> solver_;
  SymmetricPattern pattern_;
  Definiteness kind_ = Definiteness::indefinite;
  FactorReport report_;
  bool factored_ = false;
};

}  // namespace supple
