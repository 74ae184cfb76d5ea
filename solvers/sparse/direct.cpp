#include "solvers/sparse/direct.hpp"

#include "kernels/base/error.hpp"
#include "solvers/sparse/backends.hpp"

namespace supple {

std::unique_ptr<SparseDirect> make_sparse_direct(const std::string& backend) {
  if (backend == "cholesky" || backend == "auto") return make_sparse_cholesky();
  if (backend == "eigen") return make_sparse_eigen();
  if (backend == "mumps" && !have_mumps())
    throw CapabilityError("no sparse solver 'mumps' (this build was made without it)",
                          "install libmumps-seq-dev and build again, or use 'auto'");
  if (backend == "mumps") return make_sparse_mumps();
  if (backend == "cudss") {
#ifdef SUPPLE_HAVE_CUDSS
    return make_sparse_cudss();
#else
    throw CapabilityError("no sparse solver 'cudss' (this build was made without it)",
                          "configure with -DSUPPLE_CUDA=ON -DSUPPLE_CUDSS=ON, or use 'auto'");
#endif
  }
  throw InputError("unknown sparse solver '" + backend + "' (there are auto, cholesky, mumps, eigen and cudss)",
                   "use 'auto'");
}

std::unique_ptr<SparseDirect> make_sparse_pivoting() {
  return have_mumps() ? make_sparse_mumps() : make_sparse_eigen();
}

}  // namespace supple
