#pragma once
// Ranks (kernels/base/ranks.hpp) that are processes of MPI. All calls come from the thread that has initialised it.

#include <mpi.h>

#include "engine/cli/shell/program.hpp"
#include "kernels/base/ranks.hpp"

namespace supple {

// MPI while it lives.
class Mpi {
 public:
  Mpi(int* argc, char*** argv);
  ~Mpi();
  Mpi(const Mpi&) = delete;
  Mpi& operator=(const Mpi&) = delete;

  // Must not outlive this.
  Ranks ranks() const;
  // How the job ends, called once by every rank: prints the error of the lowest rank that has one. Where others are
  // still at work when this one has failed, it ends them.
  int end(const cli::Ending& ending) const;

 private:
  int rank_ = 0, size_ = 1;
  MPI_Comm endings_;  // apart from the work: a rank may end while the others are in a collective call of it
};

}  // namespace supple
