#include "solvers/sparse/direct.hpp"

#include "kernels/base/error.hpp"
#include "solvers/sparse/backends.hpp"

namespace supple {

std::unique_ptr<SparseDirect> make_sparse_direct(const std::string& backend) {
  if (backend == "eigen" || (backend == "auto" && !have_mumps())) return make_sparse_eigen();
  if (backend == "mumps" && !have_mumps())
    throw CapabilityError("no sparse solver 'mumps' (this build was made without it)",
                          "install libmumps-seq-dev and build again, or use 'eigen'");
  if (backend == "mumps" || backend == "auto") return make_sparse_mumps();
  throw InputError("unknown sparse solver '" + backend + "' (there are auto, mumps and eigen)", "use 'auto'");
}

}  // namespace supple
