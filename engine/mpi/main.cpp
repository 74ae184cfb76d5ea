// supple-mpi: `supple snapshots` and `supple reduce` in several processes of MPI, on one machine or many that share a
// folder. Every rank computes on its own core; one thread each by default (OMP_NUM_THREADS, --threads).

#include <omp.h>

#include <cstdio>
#include <cstdlib>

#include "engine/cli/shell/early_start.hpp"
#include "engine/cli/shell/interrupt.hpp"
#include "engine/mpi/mpi_ranks.hpp"

namespace {

using supple::cli::Command;
using supple::cli::Context;
using supple::cli::Options;
using supple::cli::Run;

// The verb, with ranks; what it writes and prints is the first rank's.
Command in_ranks(Command command, const supple::Ranks& ranks) {
  command.declare = [declare = command.declare, ranks](Options& options) -> Run {
    return [run = declare(options), ranks](Context& context) {
      context.ranks = ranks;
      if (ranks.rank > 0) {
        context.common.quiet = true;
        context.common.json.clear();
      }
      return run(context);
    };
  };
  return command;
}

}  // namespace

int main(int argc, char** argv) {
  supple::cli::receive_terminations();
  const supple::Mpi mpi(&argc, &argv);
  if (!std::getenv("OMP_NUM_THREADS")) omp_set_num_threads(1);
  const supple::Ranks ranks = mpi.ranks();
  if (ranks.rank > 0 && !std::freopen("/dev/null", "w", stdout)) return 1;
  return mpi.end(supple::cli::run_verb({argv + 1, argv + argc}, {in_ranks(supple::cli::snapshots_command(), ranks),
                                                                 in_ranks(supple::cli::reduce_command(), ranks)}));
}
