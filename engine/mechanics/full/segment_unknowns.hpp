#pragma once
// The geometric stiffness of cables whose points move with many nodes of the mesh (attachments of a radius, hexahedra of
// second order). It would couple all nodes of both ends of a segment with each other: a tentacle with attachments of 12
// mm has 3.3 times the entries in its factors. A segment between points p and q has the stiffness kappa P, P = I - e e^T
// and kappa = tension/length, on the motion D^T u of q relative to p. With an unknown z for each of them,
//   [A0  G] [u]   [r]
//   [G^T -I] [z] = [0],   G = sqrt(|kappa|) D P,
// has the solution of (A0 + G G^T) u = r: nodes are coupled to z alone. Under pressure, where G G^T is subtracted, z has I
// in the place of -I, and without a force G is 0 and z has I. Eigenvalues below zero: as many as A has, and one for each -1
// (Haynsworth).

#include <span>
#include <vector>

#include "engine/mechanics/full/node_pattern.hpp"
#include "solvers/sparse/direct.hpp"

namespace supple {

class SegmentUnknowns {
 public:
  SegmentUnknowns(const FullModel& model, const NodePattern& nodes);
  /// Rows of the robot whose curvature is here; others are in A0.
  static std::vector<char> rows(const FullModel& model);

  /// Of the whole matrix: the unknowns of the nodes, then three for each segment.
  const SymmetricPattern& pattern() const { return pattern_; }
  /// values [pattern()] from the lower triangle of A0; multipliers: of the robot's rows, or empty: no curvature. Returns how
  /// many of the eigenvalues below zero are the segments' own.
  int assemble(std::span<const double> A0, std::span<const double> y, std::span<const double> multipliers,
               std::vector<double>& values) const;
  std::size_t bytes() const;
  /// X [count][unknowns of the nodes] <- A^-1 X.
  void solve(SparseDirect& factor, std::span<double> X, int count);

 private:
  // A node that an end of a segment moves with: weight at its far end less that at its near one, and where the entries
  // (first of three rows, three columns) lie among the values.
  struct Coupling {
    double weight;
    int position[3];
  };
  struct Segment {
    int row, first, second;  // points among those of the row; second < 0: its end is fixed
    int couplings;           // the first of its own
  };
  std::vector<Segment> list_segments() const;

  const FullModel& model_;
  SymmetricPattern nodes_, pattern_;
  std::vector<Segment> segments_;
  std::vector<Coupling> couplings_;
  std::vector<double> extended_;
};

}  // namespace supple
