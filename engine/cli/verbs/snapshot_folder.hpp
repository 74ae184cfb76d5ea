#pragma once
// A model's full-order states: where they lie unless told otherwise, and who computes them.

#include <string>

#include "engine/cli/shell/command.hpp"
#include "engine/reduction/snapshots/state_batch.hpp"
#include "kernels/base/error.hpp"
#include "solvers/sparse/direct.hpp"

namespace supple::cli {

inline void check_jobs(const Context& context, int jobs) {
  if (jobs > 1 && context.ranks.size > 1)
    throw InputError("--jobs is for one machine (the ranks of MPI are the workers)", "more ranks");
}

inline constexpr const char* batch_words =
    "so many robots at a time, their matrices factored together; with --device cuda:0 on a GPU, their elements too; or "
    "auto";

inline constexpr const char* solver_words =
    "sparse solver of states one by one: cholesky, mumps, eigen, or cudss where it is built in (on the first GPU); "
    "without it auto";

// --batch, --device and --solver.
inline StateBatch parse_state_batch(const Context& context, const std::string& text, const std::string& solver) {
  StateBatch batch;
  if (!solver.empty()) {
    if (!text.empty())
      throw InputError("--solver and --batch do not go together (a batch has a solver of its own)", "one of them");
    (void)make_sparse_direct(solver);  // whether there is one
    batch.solver = solver;
  }
  if (context.common.device != "auto") batch.device = parse_device(context.common.device);
  if (!text.empty()) batch.robots = parse_batch(text);
  if (!batch.robots && batch.device.kind == Device::Kind::cuda)
    throw CapabilityError("full-order states one by one are computed on the CPU", "--batch auto, or --device cpu");
  return batch;
}

// The name of the program in a command line that continues the work.
inline std::string program_of(const Context& context) {
  return context.ranks.size > 1 ? "mpirun -n " + std::to_string(context.ranks.size) + " supple-mpi" : "supple";
}

// a.rom.h5 -> a.snapshots.
inline std::string default_snapshots(const std::string& model) {
  std::string stem = model;
  for (const char* ending : {".h5", ".rom"})
    if (stem.ends_with(ending)) stem.resize(stem.size() - std::string(ending).size());
  return stem + ".snapshots";
}

}  // namespace supple::cli
