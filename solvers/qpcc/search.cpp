#include "solvers/qpcc/search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/base/contract.hpp"
#include "solvers/qp/active_set.hpp"

namespace supple::qpcc {
namespace {

constexpr double contact_tolerance = 1e-8;  // forces, and motions of their terms, that count as 0
constexpr double sign_tolerance = 1e-9;     // multipliers, of their terms
constexpr double decrease = 1e-11;          // of the objective's terms, that counts
constexpr double relaxed_decrease = 1e-7;   // of t
constexpr double reached = 1e-11;           // t: the limits are obeyed
constexpr int point_sets = 4;

}  // namespace

Search::Search(int n, int m, int k, int facets)
    : max_n_(n),
      max_m_(m),
      max_k_(k),
      max_facets_(facets),
      numbers_(ScaledQpcc::memory(n, m, k) + PieceQp::numbers(n, m, k, facets) + ForwardPieces::numbers(m) +
               point_sets * PieceQp::point_numbers(n, m, k) + extent(n)),
      sides_(extent(point_sets, n + k + m * facets)),
      pieces_(extent(point_sets, m)),
      visited_(extent(max_qpcc_combinations, m)),
      level_(extent(max_qpcc_combinations)),
      candidates_(extent(m, 2 + 2 * facets)),
      pyramids_(extent(m)),
      conflicts_(extent(n + k + 2 * m + 2)),
      piece_qp_(q_, n, m, k, facets),
      forward_(q_, m) {}

void Search::make_room(const QpccProblem& p) {
  const int n = p.n, m = p.contacts, k = p.rows;
  SUPPLE_EXPECT(n <= max_n_ && m <= max_m_ && k <= max_k_ && p.facets <= max_facets_ && p.facets >= 4);
  Room room{numbers_.data()};
  q_.pyramid = pyramids_.data();
  q_.facets = p.facets;
  q_.use({room.take(ScaledQpcc::memory(n, m, k))}, n, m, k);
  piece_qp_.use({room.take(PieceQp::numbers(n, m, k, p.facets))});
  forward_.use({room.take(ForwardPieces::numbers(m))});
  centre_ = room.take(extent(n));
  QpSide* side = sides_.data();
  unsigned char* piece = pieces_.data();
  for (PiecePoint* point : {&point_, &probe_, &trial_, &best_}) {
    *point = {};
    point->z = room.take(extent(q_.all));
    for (double** v : {&point->w, &point->alpha, &point->beta}) *v = room.take(extent(3 * m));
    point->bound = room.take(extent(n));
    point->row = room.take(extent(k));
    point->motion_size = room.take(extent(m));
    point->active = side;
    point->contact_active = side + n + k;
    side += n + k + m * p.facets;
    point->piece = piece;
    piece += m;
  }
  piece_qp_.programs = piece_qp_.iterations = 0;
  conflicts_used_ = 0;
  pivots_ = 0;
}

double Search::uniform(double low, double high) {  // xorshift64*
  random_ ^= random_ >> 12;
  random_ ^= random_ << 25;
  random_ ^= random_ >> 27;
  return low + (high - low) * static_cast<double>((random_ * 0x2545f4914f6cdd1du) >> 11) * 0x1p-53;
}

void Search::start_cold(PiecePoint& point) const {
  std::fill_n(point.active, q_.n + q_.k, QpSide::none);
  std::fill_n(point.contact_active, q_.m * q_.facets, QpSide::none);
}

// Where a program starts from: sides and pieces; not the point itself.
void Search::copy(const PiecePoint& from, PiecePoint& to) const {
  std::copy_n(from.active, q_.n + q_.k, to.active);
  std::copy_n(from.contact_active, q_.m * q_.facets, to.contact_active);
  std::copy_n(from.piece, q_.m, to.piece);
}

bool Search::contains(const PiecePoint& point, int c, int piece) const {
  const Pyramid& pyramid = q_.pyramid[c];
  return pyramid.force_distance(piece, point.z + q_.n + 3 * c) <= contact_tolerance * point.force_size &&
         pyramid.motion_distance(piece, point.w + 3 * c) <= contact_tolerance * point.motion_size[c];
}

double Search::wrong_sign(const PiecePoint& point, int c, int piece) const {
  const double wrong =
      q_.pyramid[c].wrong_sign(piece, point.z + q_.n + 3 * c, point.w + 3 * c, point.alpha + 3 * c, point.beta + 3 * c,
                               contact_tolerance * point.force_size, contact_tolerance * point.motion_size[c]);
  return wrong > 0 ? wrong / point.multiplier_size : 0;
}

// Neighbouring pieces that multipliers ask for, the most wrong first.
int Search::find_candidates(const PiecePoint& point) {
  int count = 0;
  for (int c = 0; c < q_.m; ++c)
    for (int piece = 0; piece < q_.pyramid[c].pieces(); ++piece) {
      if (piece == point.piece[c] || !q_.pyramid[c].exists(piece) || !contains(point, c, piece)) continue;
      const double wrong = wrong_sign(point, c, piece);
      if (wrong > sign_tolerance) candidates_[extent(count++)] = {wrong, c, piece};
    }
  std::sort(candidates_.begin(), candidates_.begin() + count, [](const Candidate& a, const Candidate& b) {
    return a.wrong != b.wrong ? a.wrong > b.wrong : a.contact != b.contact ? a.contact < b.contact : a.piece < b.piece;
  });
  return count;
}

// False: known already, or no room left.
bool Search::visit(const unsigned char* piece) {
  const std::size_t m = extent(q_.m);
  for (std::size_t i = 0; i < extent(levels_); ++i)
    if (std::equal(piece, piece + m, visited_.begin() + static_cast<long>(i * m))) return false;
  if (levels_ == max_qpcc_combinations) return false;
  std::copy_n(piece, m, visited_.begin() + static_cast<long>(extent(levels_) * m));
  level_[extent(levels_++)] = 0;
  return true;
}

Search::Outcome Search::attempt(bool relaxed) {
  solve_piece(trial_, relaxed);
  if (trial_.status != QpStatus::solved) return trial_.status == QpStatus::unbounded ? Outcome::lower : Outcome::worse;
  const double change = relaxed ? trial_.relaxation - point_.relaxation : trial_.objective - point_.objective;
  const double counts = relaxed ? std::max(relaxed_decrease * point_.relaxation, 1e-3 * reached)
                                : decrease * std::max(point_.objective_size, trial_.objective_size);
  if (change < -counts) return Outcome::lower;
  return change <= counts ? Outcome::same : Outcome::worse;
}

// From point_, and from pieces of the same value that it leads to, across pieces whose multiplier has the wrong sign.
Search::LevelEnd Search::follow_signs(bool relaxed) {
  for (int base = 0; base < levels_; ++base) {
    if (base > 0 && !level_[extent(base)]) continue;
    PiecePoint* from = &point_;
    if (base > 0) {
      copy(point_, probe_);
      std::copy_n(visited_.begin() + static_cast<long>(extent(base, q_.m)), q_.m, probe_.piece);
      std::fill_n(probe_.contact_active, q_.m * q_.facets, QpSide::none);
      solve_piece(probe_, relaxed);
      if (probe_.status != QpStatus::solved) continue;
      from = &probe_;
    }
    const int count = find_candidates(*from);
    if (count == 0) {
      if (from != &point_) std::swap(point_, probe_);
      return LevelEnd::strong;
    }
    for (int i = 0; i < count && !exhausted(); ++i) {
      const Candidate& candidate = candidates_[extent(i)];
      copy(*from, trial_);
      trial_.piece[candidate.contact] = static_cast<unsigned char>(candidate.piece);
      std::fill_n(trial_.contact_active + candidate.contact * q_.facets, q_.facets, QpSide::none);
      if (!visit(trial_.piece)) continue;
      const Outcome outcome = attempt(relaxed);
      if (outcome == Outcome::lower) return LevelEnd::improved;
      level_[extent(levels_ - 1)] = outcome == Outcome::same;
    }
    if (exhausted()) break;
  }
  return LevelEnd::exhausted;
}

// All combinations of pieces that contain point_. complete: there were not too many.
Search::LevelEnd Search::try_all(bool relaxed, bool& complete) {
  const int m = q_.m;
  long combinations = 1;
  int count = 0;  // candidates_: the pieces of each contact, in order
  for (int c = 0; c < m; ++c) {
    int here = 0;
    for (int piece = 0; piece < q_.pyramid[c].pieces(); ++piece)
      if (q_.pyramid[c].exists(piece) && (piece == point_.piece[c] || contains(point_, c, piece))) {
        candidates_[extent(count++)] = {0, c, piece};
        ++here;
      }
    combinations = std::min(combinations * here, long{max_qpcc_combinations} + 1);
  }
  complete = combinations <= max_qpcc_combinations;
  if (!complete) return LevelEnd::exhausted;
  // Those that were visited from other points of the level may fill the list: it only saves work here.
  for (long number = 0; number < combinations; ++number) {
    long rest = number;
    copy(point_, trial_);
    std::fill_n(trial_.contact_active, m * q_.facets, QpSide::none);
    for (int c = 0, first = 0; c < m; ++c) {
      int here = 0;
      while (first + here < count && candidates_[extent(first + here)].contact == c) ++here;
      trial_.piece[c] =
          static_cast<unsigned char>(candidates_[extent(first) + static_cast<std::size_t>(rest % here)].piece);
      rest /= here;
      first += here;
    }
    const bool full = levels_ == max_qpcc_combinations;
    if (!visit(trial_.piece) && !full) continue;
    if (exhausted()) {
      complete = false;
      return LevelEnd::exhausted;
    }
    if (attempt(relaxed) == Outcome::lower) return LevelEnd::improved;
  }
  return LevelEnd::exhausted;
}

// From point_, solved on its pieces. If the result is unbounded, so is point_.status.
QpccCertificate Search::descend(bool relaxed) {
  while (!(relaxed && point_.relaxation <= reached)) {
    levels_ = 0;
    visit(point_.piece);
    LevelEnd end = follow_signs(relaxed);
    if (end == LevelEnd::strong) return QpccCertificate::strong;
    bool complete = false;
    if (end == LevelEnd::exhausted) end = try_all(relaxed, complete);
    if (end != LevelEnd::improved) return complete ? QpccCertificate::enumerated : QpccCertificate::none;
    std::swap(point_, trial_);
    ++pivots_;
    if (point_.status != QpStatus::solved || exhausted()) return QpccCertificate::none;
  }
  return QpccCertificate::strong;
}

// Pieces of point_ to pieces with a point within the limits, along decreasing violations.
bool Search::reach_limits() {
  solve_piece(point_, true);
  if (point_.status != QpStatus::solved) return false;
  descend(true);
  return point_.status == QpStatus::solved && point_.relaxation <= 1e3 * reached;
}

// From the pieces of point_. `infeasible`: and the least violation found is in point_.relaxation.
QpStatus Search::run_start(QpccCertificate& certificate) {
  certificate = QpccCertificate::none;
  point_.relaxation = std::numeric_limits<double>::infinity();
  solve_piece(point_, false);
  if (point_.status == QpStatus::infeasible || point_.status == QpStatus::iteration_limit) {
    if (reach_limits()) {
      start_cold(point_);
      solve_piece(point_, false);
    } else {
      if (point_.status != QpStatus::solved) point_.relaxation = std::numeric_limits<double>::infinity();
      return QpStatus::infeasible;
    }
  }
  if (point_.status != QpStatus::solved) return point_.status;
  certificate = descend(false);
  return point_.status;
}

// Pieces of a further start into point_, in turn: of the forces at a random x, the best pieces with some of them
// changed, random ones.
bool Search::next_start(int start, bool have_best) {
  start_cold(point_);
  if (q_.m == 0) return false;
  const int kind = start % 3;
  if (kind == 1) {
    const double reach = have_best ? qp::largest(best_.z, q_.n) : 1;
    for (int i = 0; i < q_.n; ++i) {
      const double around = have_best ? best_.z[i] : centre_[i];
      const double low = std::isfinite(q_.lower[i]) ? q_.lower[i] : around - 2 * reach;
      const double high = std::isfinite(q_.upper[i]) ? q_.upper[i] : around + 2 * reach;
      trial_.z[i] = uniform(std::min(low, high), std::max(low, high));
    }
    forward_.find(trial_.z, point_.piece);
    return true;
  }
  const bool change_some = kind == 2 && have_best;
  if (change_some) std::copy_n(best_.piece, q_.m, point_.piece);
  const int changes = change_some ? 1 + static_cast<int>(uniform(0, 0.5 * q_.m + 0.5)) : q_.m;
  for (int i = 0; i < changes; ++i) {
    const int c = change_some ? static_cast<int>(uniform(0, q_.m)) : i;
    int piece = static_cast<int>(uniform(0, q_.pyramid[c].pieces()));
    if (!q_.pyramid[c].exists(piece)) piece = open_piece;
    point_.piece[c] = static_cast<unsigned char>(piece);
  }
  return true;
}

void Search::residuals(const PiecePoint& point, QpccReport& report) const {
  report.objective = point.objective;
  report.feasibility = point.limits;
  report.stationarity = point.gradient;
  for (int c = 0; c < q_.m; ++c) {
    const Pyramid& pyramid = q_.pyramid[c];
    const int piece = point.piece[c];
    const double* lambda = point.z + q_.n + 3 * c;
    const auto ratio = [](double a, double b) { return a > 0 ? a / b : 0; };
    const double outside =
        pyramid.frictionless() ? std::max(-lambda[0], 0.0) : pyramid.force_distance(stick_piece, lambda);
    report.cone = std::max(report.cone, ratio(outside, point.force_size));
    report.complementarity =
        std::max({report.complementarity, ratio(pyramid.force_distance(piece, lambda), point.force_size),
                  ratio(pyramid.motion_distance(piece, point.w + 3 * c), point.motion_size[c])});
    report.stationarity = std::max(report.stationarity, wrong_sign(point, c, piece));
    int pieces = 0;
    for (int other = 0; other < pyramid.pieces(); ++other) pieces += pyramid.exists(other) && contains(point, c, other);
    report.biactive += pieces > 1;
  }
}

QpccReport Search::give(QpStatus status, QpccReport report, const QpccProblem& p, const QpccSolution& s) {
  const bool answer = status == QpStatus::solved;  // point best_
  const auto fill = [&](std::span<double> to, auto&& value) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = answer ? value(static_cast<int>(i)) : 0;
  };
  fill(s.x, [&](int i) { return best_.z[i] * q_.column[i]; });
  fill(s.lambda, [&](int i) { return best_.z[q_.n + i] * q_.column[q_.n + i]; });
  fill(s.bound_multipliers, [&](int i) { return best_.bound[i] / q_.column[i]; });
  fill(s.row_multipliers, [&](int i) { return best_.row[i]; });
  if (answer) {
    for (std::size_t c = 0; c < s.pieces.size(); ++c) s.pieces[c] = piece_of(best_.piece[c], p.facets);
    if (!s.active.empty()) std::copy_n(best_.active, q_.n + q_.k, s.active.begin());
    residuals(best_, report);
  }
  report.status = status;
  report.programs = piece_qp_.programs;
  report.qp_iterations = piece_qp_.iterations;
  report.pivots = pivots_;
  return report;
}

QpccReport Search::solve(const QpccProblem& problem, const QpccSolution& solution, const QpccSettings& settings) {
  make_room(problem);
  QpccReport report;
  if (q_.load(problem) != QpStatus::solved) return give(QpStatus::not_finite, report, problem, solution);
  max_programs_ = settings.max_programs;
  random_ = settings.seed * 0x9e3779b97f4a7c15u + 1;
  for (int i = 0; i < q_.n; ++i) {
    const double x = solution.x[extent(i)] / q_.column[i];
    centre_[i] = std::min(std::max(std::isfinite(x) ? x : 0, q_.lower[i]), q_.upper[i]);
  }
  // The caller's pieces, or those of the forces at x.
  start_cold(point_);
  bool known = extent(q_.m) == solution.pieces.size();
  for (int c = 0; c < q_.m && known; ++c) {
    const int piece = number_of(solution.pieces[extent(c)], q_.pyramid[c]);
    known = piece >= 0;
    point_.piece[c] = static_cast<unsigned char>(piece);
  }
  if (!known) forward_.find(centre_, point_.piece);
  if (!solution.active.empty()) std::copy_n(solution.active.begin(), q_.n + q_.k, point_.active);

  QpStatus failure = QpStatus::infeasible;
  double least = std::numeric_limits<double>::infinity();
  bool have_best = false;
  // Where no start has led to a feasible point: others.
  const int rescues = q_.m == 0 ? 0 : settings.rescues;
  for (int start = 0; start <= settings.starts || (!have_best && start <= settings.starts + rescues); ++start) {
    if (start > 0 && exhausted()) break;
    if (start > 0) {
      if (start == 1 && !have_best && known) {
        start_cold(point_);
        forward_.find(centre_, point_.piece);
      } else if (!next_start(start, have_best)) {
        break;
      }
    }
    QpccCertificate certificate;
    const int pivots = pivots_;
    const QpStatus status = run_start(certificate);
    if (status == QpStatus::solved) {
      ++report.starts;
      if (!have_best || point_.objective < best_.objective - decrease * best_.objective_size) {
        std::swap(point_, best_);
        report.certificate = certificate;
      } else {
        pivots_ = pivots;
      }
      have_best = true;
    } else if (status == QpStatus::infeasible) {
      if (!have_best && (conflicts_used_ == 0 || point_.relaxation < least)) {
        least = point_.relaxation;
        start_cold(point_);
        solve_piece(point_, false);
        conflicts_used_ = extent(piece_qp_.conflicts(conflicts_));
      }
    } else {
      failure = status;
      if (status == QpStatus::unbounded || status == QpStatus::not_convex) break;
    }
  }
  if (!have_best || failure == QpStatus::unbounded) {
    if (failure != QpStatus::infeasible) conflicts_used_ = 0;
    return give(failure, report, problem, solution);
  }
  conflicts_used_ = 0;
  report = give(QpStatus::solved, report, problem, solution);
  const double worst = std::max({report.stationarity, report.feasibility, report.complementarity, report.cone});
  if (!(worst <= settings.tolerance) || report.certificate == QpccCertificate::none)
    report.status = QpStatus::iteration_limit;
  return report;
}

void Search::classify(const QpccProblem& problem, std::span<const double> z, std::span<ContactPiece> pieces) {
  make_room(problem);
  std::fill(pieces.begin(), pieces.end(), ContactPiece{});
  if (q_.load(problem) != QpStatus::solved) return;
  for (int i = 0; i < q_.all; ++i) {
    const double scale = q_.column[i];
    point_.z[i] = scale > 0 ? z[extent(i)] / scale : 0;
    if (!std::isfinite(point_.z[i])) return;
  }
  for (int c = 0; c < q_.m; ++c) {
    const Pyramid& pyramid = q_.pyramid[c];
    const double* lambda = point_.z + q_.n + 3 * c;
    q_.motion(c, point_.z, 1, 1, point_.w, point_.motion_size[c], point_.load);
    double least = std::numeric_limits<double>::infinity();
    for (int piece = 0; piece < pyramid.pieces(); ++piece) {
      if (!pyramid.exists(piece)) continue;
      const double distance = std::max(pyramid.force_distance(piece, lambda), pyramid.motion_distance(piece, point_.w));
      if (distance < least) {
        least = distance;
        pieces[extent(c)] = piece_of(piece, problem.facets);
      }
    }
  }
}

}  // namespace supple::qpcc
