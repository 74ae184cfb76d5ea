// The two routines of BLAS that MUMPS spends its time in, by Eigen; the rest is the reference's (libblas.a, liblapack.a).
// For a module that carries its libraries: OpenBLAS is larger than all the rest of it together.
// Semantics: the reference's dgemm.f and dtrsm.f. Column-major, leading dimensions lda, ldb, ldc.

#include <Eigen/Dense>

namespace {

using Eigen::OuterStride;
using Matrix = Eigen::Map<Eigen::MatrixXd, 0, OuterStride<>>;
using ConstMatrix = Eigen::Map<const Eigen::MatrixXd, 0, OuterStride<>>;

// Letters come in either case.
bool is(const char* letter, char lower) {
  return (*letter | 32) == lower;
}

template <unsigned int Mode>
void solve(bool right, bool transposed, const ConstMatrix& A, Matrix& B) {
  if (!right && !transposed)
    A.template triangularView<Mode>().template solveInPlace<Eigen::OnTheLeft>(B);
  else if (!right)
    A.template triangularView<Mode>().transpose().template solveInPlace<Eigen::OnTheLeft>(B);
  else if (!transposed)
    A.template triangularView<Mode>().template solveInPlace<Eigen::OnTheRight>(B);
  else
    A.template triangularView<Mode>().transpose().template solveInPlace<Eigen::OnTheRight>(B);
}

}  // namespace

extern "C" {

// C <- alpha op(A) op(B) + beta C; op(A) [m x k], op(B) [k x n].
void dgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c,
            const int* ldc) {
  if (*m <= 0 || *n <= 0) return;
  Matrix C(c, *m, *n, OuterStride<>(*ldc));
  if (*beta == 0)
    C.setZero();  // whatever it holds
  else if (*beta != 1)
    C *= *beta;
  if (*k <= 0 || *alpha == 0) return;
  const bool turn_a = !is(op_a, 'n'), turn_b = !is(op_b, 'n');
  const ConstMatrix A(a, turn_a ? *k : *m, turn_a ? *m : *k, OuterStride<>(*lda)),
      B(b, turn_b ? *n : *k, turn_b ? *k : *n, OuterStride<>(*ldb));
  if (!turn_a && !turn_b)
    C.noalias() += *alpha * A * B;
  else if (turn_a && !turn_b)
    C.noalias() += *alpha * A.transpose() * B;
  else if (!turn_a)
    C.noalias() += *alpha * A * B.transpose();
  else
    C.noalias() += *alpha * A.transpose() * B.transpose();
}

// B <- alpha op(A)^-1 B, or alpha B op(A)^-1 (side 'R'); A triangular, B [m x n].
void dtrsm_(const char* side, const char* uplo, const char* op, const char* diagonal, const int* m, const int* n,
            const double* alpha, const double* a, const int* lda, double* b, const int* ldb) {
  if (*m <= 0 || *n <= 0) return;
  Matrix B(b, *m, *n, OuterStride<>(*ldb));
  if (*alpha == 0) {
    B.setZero();
    return;
  }
  if (*alpha != 1) B *= *alpha;
  const bool right = is(side, 'r'), transposed = !is(op, 'n'), unit = is(diagonal, 'u');
  const int order = right ? *n : *m;
  const ConstMatrix A(a, order, order, OuterStride<>(*lda));
  if (is(uplo, 'u'))
    unit ? solve<Eigen::UnitUpper>(right, transposed, A, B) : solve<Eigen::Upper>(right, transposed, A, B);
  else
    unit ? solve<Eigen::UnitLower>(right, transposed, A, B) : solve<Eigen::Lower>(right, transposed, A, B);
}

// mumps_direct.cpp asks OpenBLAS for one thread; these routines have no other.
void openblas_set_num_threads(int) {}

}  // extern "C"
