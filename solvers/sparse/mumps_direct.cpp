// Sequential MUMPS 5.x (multifrontal LDLt). Numbers below are those of its users' guide, counted from 1. The ordering
// is METIS called here: through MUMPS, METIS gives another ordering, so other bits, on every run.
#include "solvers/sparse/backends.hpp"

#ifdef SUPPLE_HAVE_MUMPS

#include <cblas.h>
#include <dmumps_c.h>

#include <algorithm>
#include <mutex>

#include "kernels/base/contract.hpp"
#include "kernels/base/error.hpp"
#include "solvers/sparse/ordering.hpp"

namespace supple {
namespace {

// Debian's sequential MUMPS keeps global state: calls of all instances are serialised.
std::mutex mumps_mutex;

constexpr int right_hand_sides_per_call = 64;
constexpr int growth_attempts = 6;

enum Job { initialise = -1, finish = -2, analysis = 1, factorisation = 2, solution = 3 };

class MumpsDirect final : public SparseDirect {
 public:
  ~MumpsDirect() override { close(); }

  void analyse(const SymmetricPattern& pattern, Definiteness kind) override {
    close();
    kind_ = kind;
    n_ = pattern.n;
    rows_.resize(pattern.row.size());
    columns_.resize(pattern.row.size());
    values_.assign(pattern.row.size(), 1.0);
    for (int j = 0; j < n_; ++j)
      for (int k = pattern.column_start[j]; k < pattern.column_start[j + 1]; ++k) {
        rows_[k] = pattern.row[k] + 1;
        columns_[k] = j + 1;
      }
    mumps_ = DMUMPS_STRUC_C{};
    // sym = 1 would neither detect null pivots nor stop at negative ones; sym = 2 with hardly any pivoting
    // takes as long and counts both.
    mumps_.sym = 2;
    mumps_.par = 1;
    mumps_.comm_fortran = -987654;
    call(initialise);
    open_ = true;
    for (int stream : {1, 2, 3, 4}) icntl(stream) = stream < 4 ? -1 : 0;  // silent
    icntl(6) = 0;                                                         // no column permutation: the diagonal is kept
    icntl(7) = 1;                                                         // the ordering given below
    icntl(28) = 1;                                                        // sequential analysis
    icntl(13) = 1;                                                        // no ScaLAPACK at the root: exact inertia
    icntl(14) = 30;                                                       // % of workspace above the estimate
    icntl(24) = 1;                                                        // null pivots are detected, not divided by
    icntl(27) = 16;                                                       // right-hand sides per block
    mumps_.cntl[2] = sparse_singular_pivot;  // CNTL(3): null pivot, relative to the norm of the scaled matrix
    if (kind == Definiteness::positive) {
      mumps_.cntl[0] = 1e-10;  // CNTL(1): as good as no pivoting; with 0, null pivots would not be detected
      icntl(12) = 1;           // ordering of the plain graph, without 2x2 blocks
    }
    mumps_.n = n_;
    mumps_.nnz = static_cast<MUMPS_INT8>(rows_.size());
    const std::vector<int> place = nested_dissection(block_graph(pattern));
    permutation_.resize(n_);
    for (int i = 0; i < n_; ++i) permutation_[i] = pattern.block * place[i / pattern.block] + i % pattern.block + 1;
    mumps_.perm_in = permutation_.data();
    mumps_.irn = rows_.data();
    mumps_.jcn = columns_.data();
    mumps_.a = values_.data();
    call(analysis);
    if (mumps_.infog[0] < 0) fail("analysis");
  }

  FactorReport factor(const double* values) override {
    SUPPLE_EXPECT(open_);
    std::copy(values, values + values_.size(), values_.begin());
    FactorReport report;
    for (int attempt = 0;; ++attempt) {
      call(factorisation);
      const int error = mumps_.infog[0];
      if (error >= 0) break;
      if ((error == -8 || error == -9) && attempt < growth_attempts) {  // workspace too small for the pivoting met
        icntl(14) = std::min(2 * icntl(14) + 20, 4000);
        continue;
      }
      if (error == -10)
        report.status = FactorStatus::singular;
      else if (error == -40)
        report.status = FactorStatus::not_positive;
      else if (error == -8 || error == -9 || error == -13 || error == -19)
        report.status = FactorStatus::out_of_memory;
      else
        fail("factorisation");
      return report;
    }
    report.negative_pivots = mumps_.infog[11];  // INFOG(12)
    const int entries = mumps_.infog[28];       // INFOG(29): millions if negative
    report.factor_nonzeros = entries >= 0 ? entries : -1e6 * entries;
    if (mumps_.infog[27] > 0)
      report.status = FactorStatus::singular;  // INFOG(28): null pivots
    else if (kind_ == Definiteness::positive && report.negative_pivots > 0)
      report.status = FactorStatus::not_positive;
    return report;
  }

  void solve(double* x, int count) override {
    SUPPLE_EXPECT(open_);
    for (int first = 0; first < count; first += right_hand_sides_per_call) {
      mumps_.nrhs = std::min(right_hand_sides_per_call, count - first);
      mumps_.lrhs = n_;
      mumps_.rhs = x + static_cast<std::ptrdiff_t>(first) * n_;
      call(solution);
      if (mumps_.infog[0] < 0) fail("solution");
    }
  }

  bool multiply_inverse(const SparseColumns&, bool, double*) override { return false; }
  std::string name() const override { return "mumps"; }

 private:
  MUMPS_INT& icntl(int number) { return mumps_.icntl[number - 1]; }

  void call(Job job) {
    const std::lock_guard lock(mumps_mutex);
    openblas_set_num_threads(1);
    mumps_.job = job;
    dmumps_c(&mumps_);
  }

  void close() {
    if (open_) call(finish);
    open_ = false;
  }

  [[noreturn]] void fail(const std::string& phase) const {
    throw RunError("sparse " + phase + " failed (MUMPS error " + std::to_string(mumps_.infog[0]) + ", " +
                       std::to_string(mumps_.infog[1]) + ")",
                   "use the sparse solver 'eigen'");
  }

  Definiteness kind_ = Definiteness::positive;
  int n_ = 0;
  bool open_ = false;
  DMUMPS_STRUC_C mumps_{};
  std::vector<MUMPS_INT> rows_, columns_, permutation_;
  std::vector<double> values_;
};

}  // namespace

bool have_mumps() {
  return true;
}
std::unique_ptr<SparseDirect> make_sparse_mumps() {
  return std::make_unique<MumpsDirect>();
}

}  // namespace supple

#else

namespace supple {
bool have_mumps() {
  return false;
}
std::unique_ptr<SparseDirect> make_sparse_mumps() {
  return nullptr;
}
}  // namespace supple

#endif
