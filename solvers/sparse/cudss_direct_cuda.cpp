// cuDSS 1.x on the first GPU, in builds with SUPPLE_CUDSS: LDLt of one matrix. Its pivots are looked for within
// supernodes and perturbed where they vanish, so that a factor is believed only if its inertia adds up, no pivot was
// perturbed, and it solves a system. Our lower triangle by columns is its upper triangle by rows.
#include "solvers/sparse/backends.hpp"

#ifdef SUPPLE_HAVE_CUDSS

#include <cudss.h>

#include <cmath>
#include <utility>

#include "kernels/array/array.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/extent.hpp"
#include "kernels/cuda/check.hpp"

namespace supple {
namespace {

// Largest normwise backward error of a solution by a sound factor: some hundred roundings of 1e-16, with room for the
// growth of entries in an indefinite one. The residual alone also grows with the condition number.
constexpr double sound = 1e-10;

void check(cudssStatus_t status, const char* what) {
  if (status == CUDSS_STATUS_SUCCESS) return;
  const std::string words = std::string(what) + " failed (cuDSS answers " + std::to_string(status) + ")";
  if (status == CUDSS_STATUS_ALLOC_FAILED || status == CUDSS_STATUS_NOT_INITIALIZED)
    throw CapabilityError(words, "the sparse solver 'cholesky'");
  throw RunError(words, "the sparse solver 'cholesky'");
}

class CudssDirect final : public SparseDirect {
 public:
  CudssDirect() {
    if (cuda_device_count() == 0)
      throw CapabilityError("no GPU for the sparse solver 'cudss' (" + cuda_absence_reason() + ")", "use 'auto'");
    select();
    check(cudssCreate(&handle_), "starting cuDSS");
    check(cudssConfigCreate(&config_), "starting cuDSS");
    const int deterministic = 1;
    check(cudssConfigSet(config_, CUDSS_CONFIG_DETERMINISTIC_MODE, &deterministic, sizeof deterministic),
          "asking cuDSS for the same bits");
  }
  ~CudssDirect() override {
    close();
    if (config_) (void)cudssConfigDestroy(config_);
    if (handle_) (void)cudssDestroy(handle_);
  }

  void analyse(const SymmetricPattern& pattern, Definiteness kind) override {
    close();
    select();
    kind_ = kind;
    pattern_ = pattern;
    const auto n = static_cast<std::int64_t>(pattern.n), nonzeros = static_cast<std::int64_t>(pattern.nonzeros());
    start_ = Array<int>(device_, pattern.column_start);
    row_ = Array<int>(device_, pattern.row);
    values_ = Array<double>(device_, pattern.row.size());
    reserve(1);
    check(cudssMatrixCreateCsr(&A_, n, n, nonzeros, start_.data(), nullptr, row_.data(), values_.data(), CUDA_R_32I,
                               CUDA_R_32I, CUDA_R_64F, CUDSS_MTYPE_SYMMETRIC, CUDSS_MVIEW_UPPER, CUDSS_BASE_ZERO),
          "describing a matrix to cuDSS");
    check(cudssDataCreate(handle_, &data_), "starting cuDSS");
    check(cudssExecute(handle_, CUDSS_PHASE_ANALYSIS, config_, data_, A_, X_, B_), "the analysis of a sparse matrix");
  }

  FactorReport factor(const double* values) override {
    SUPPLE_EXPECT(A_ != nullptr);
    select();
    values_.upload({values, pattern_.row.size()});
    const cudssStatus_t status = cudssExecute(handle_, CUDSS_PHASE_FACTORIZATION, config_, data_, A_, X_, B_);
    if (status == CUDSS_STATUS_ALLOC_FAILED) return {FactorStatus::out_of_memory, 0, 0};
    check(status, "a sparse factorisation");
    synchronize(device_);
    int info = 0, perturbed = 0, inertia[2] = {0, 0};
    std::int64_t entries = 0;
    get(CUDSS_DATA_INFO, info);
    get(CUDSS_DATA_NPIVOTS, perturbed);
    get(CUDSS_DATA_INERTIA, inertia);
    get(CUDSS_DATA_LU_NNZ, entries);
    FactorReport report{FactorStatus::ok, inertia[1], static_cast<double>(entries)};
    if (info != 0 || perturbed > 0 || inertia[0] + inertia[1] != pattern_.n || !solves(values))
      report.status = FactorStatus::singular;
    else if (kind_ == Definiteness::positive && inertia[1] > 0)
      report.status = FactorStatus::not_positive;
    return report;
  }

  void solve(double* x, int count) override {
    select();
    reserve(count);
    const std::size_t numbers = extent(pattern_.n, count);
    right_.upload({x, numbers});
    check(cudssExecute(handle_, CUDSS_PHASE_SOLVE, config_, data_, A_, X_, B_), "a sparse solution");
    solution_.download({x, numbers});
  }

  bool multiply_inverse(const SparseColumns&, bool, double*) override { return false; }
  std::string name() const override { return "cudss"; }

 private:
  void select() const { check_cuda(cudaSetDevice(device_.index), "choosing the CUDA device"); }

  template <class T>
  void get(cudssDataParam_t what, T& value) {
    std::size_t written = 0;
    check(cudssDataGet(handle_, data_, what, &value, sizeof value, &written), "asking cuDSS for its pivots");
  }

  // Right-hand sides and solutions of `count` columns.
  void reserve(int count) {
    if (count == width_) return;
    drop(X_);
    drop(B_);
    width_ = count;
    right_ = Array<double>(device_, extent(pattern_.n, count));
    solution_ = Array<double>(device_, right_.size());
    for (const auto& [matrix, array] : {std::pair{&B_, &right_}, {&X_, &solution_}})
      check(
          cudssMatrixCreateDn(matrix, pattern_.n, count, pattern_.n, array->data(), CUDA_R_64F, CUDSS_LAYOUT_COL_MAJOR),
          "describing a right-hand side to cuDSS");
  }

  bool solves(const double* values) {
    const std::size_t n = extent(pattern_.n);
    std::vector<double> b(n), x(n);
    for (std::size_t i = 0; i < n; ++i) b[i] = 1 + static_cast<double>(i % 7);
    x = b;
    solve(x.data(), 1);
    return backward_error(pattern_, values, x.data(), b.data()) <= sound;  // false where it is no number
  }

  static void drop(cudssMatrix_t& matrix) {
    if (matrix) (void)cudssMatrixDestroy(std::exchange(matrix, nullptr));
  }
  void close() {
    drop(A_);
    drop(X_);
    drop(B_);
    if (data_) (void)cudssDataDestroy(handle_, std::exchange(data_, nullptr));
    width_ = 0;
  }

  Device device_ = cuda(0);
  Definiteness kind_ = Definiteness::positive;
  SymmetricPattern pattern_;
  cudssHandle_t handle_ = nullptr;
  cudssConfig_t config_ = nullptr;
  cudssData_t data_ = nullptr;
  cudssMatrix_t A_ = nullptr, X_ = nullptr, B_ = nullptr;
  int width_ = 0;
  Array<int> start_, row_;
  Array<double> values_, right_, solution_;
};

}  // namespace

std::unique_ptr<SparseDirect> make_sparse_cudss() {
  return std::make_unique<CudssDirect>();
}

}  // namespace supple

#endif
