#pragma once
// The search over pieces: from a start to a feasible point, from there downhill to a local minimum, and the proof.

#include <vector>

#include "solvers/qpcc/forward_pieces.hpp"
#include "solvers/qpcc/piece_qp.hpp"

namespace supple::qpcc {

class Search {
 public:
  Search(int max_unknowns, int max_contacts, int max_rows, int max_facets);

  QpccReport solve(const QpccProblem& problem, const QpccSolution& solution, const QpccSettings& settings);
  void classify(const QpccProblem& problem, std::span<const double> z, std::span<ContactPiece> pieces);
  std::span<const QpccConflict> conflicts() const { return std::span(conflicts_).first(conflicts_used_); }

 private:
  struct Candidate {
    double wrong;
    int contact, piece;
  };

  int max_n_, max_m_, max_k_, max_facets_;
  std::vector<double> numbers_;
  std::vector<QpSide> sides_;
  std::vector<unsigned char> pieces_;           // of the points below
  std::vector<unsigned char> visited_, level_;  // pieces solved at the present value; whether they gave the same
  std::vector<Candidate> candidates_;
  std::vector<Pyramid> pyramids_;
  std::vector<QpccConflict> conflicts_;
  std::size_t conflicts_used_ = 0;

  ScaledQpcc q_{};
  PieceQp piece_qp_;
  ForwardPieces forward_;
  // The lowest of this start, one of the same value, a trial, the lowest of all starts.
  PiecePoint point_{}, probe_{}, trial_{}, best_{};
  double* centre_ = nullptr;
  int levels_ = 0, max_programs_ = 0, pivots_ = 0;
  std::uint64_t random_ = 0;

  void make_room(const QpccProblem& problem);
  double uniform(double low, double high);
  void start_cold(PiecePoint& point) const;
  void copy(const PiecePoint& from, PiecePoint& to) const;
  void solve_piece(PiecePoint& point, bool relaxed) { piece_qp_.solve(point, relaxed, centre_); }

  bool exhausted() const { return piece_qp_.programs >= max_programs_; }
  bool contains(const PiecePoint& point, int c, int piece) const;
  double wrong_sign(const PiecePoint& point, int c, int piece) const;
  int find_candidates(const PiecePoint& point);
  bool visit(const unsigned char* piece);
  // Solves trial_ on its pieces. Compared with point_: lower (or unbounded), the same, or neither.
  enum class Outcome { lower, same, worse };
  Outcome attempt(bool relaxed);
  enum class LevelEnd { improved, strong, exhausted };
  LevelEnd follow_signs(bool relaxed);
  LevelEnd try_all(bool relaxed, bool& complete);
  QpccCertificate descend(bool relaxed);
  bool reach_limits();
  QpStatus run_start(QpccCertificate& certificate);
  bool next_start(int start, bool have_best);
  QpccReport give(QpStatus status, QpccReport report, const QpccProblem& problem, const QpccSolution& solution);
  void residuals(const PiecePoint& point, QpccReport& report) const;
};

}  // namespace supple::qpcc
