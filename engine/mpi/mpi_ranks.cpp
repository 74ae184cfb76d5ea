#include "engine/mpi/mpi_ranks.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <thread>

namespace supple {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_at_once = std::size_t{1} << 27;  // numbers: MPI counts them as int
constexpr std::chrono::seconds patience{3};                 // of a rank that has failed, with the others

// MPI waits by asking without a pause; the others may need the processor. False: not done until then.
bool wait(MPI_Request& request, Clock::time_point until = Clock::time_point::max()) {
  int done = 0;
  std::chrono::milliseconds pause{0};
  while (true) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done) return true;
    if (Clock::now() > until) return false;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause + std::chrono::milliseconds(1), std::chrono::milliseconds(20));
  }
}

void send_values(int to, std::span<const double> values) {
  const unsigned long long size = values.size();
  MPI_Send(&size, 1, MPI_UNSIGNED_LONG_LONG, to, 0, MPI_COMM_WORLD);
  for (std::size_t first = 0; first < values.size(); first += most_at_once)
    MPI_Send(values.data() + first, static_cast<int>(std::min(most_at_once, values.size() - first)), MPI_DOUBLE, to, 0,
             MPI_COMM_WORLD);
}

std::vector<double> receive_values(int from) {
  unsigned long long size = 0;
  MPI_Request request;
  MPI_Irecv(&size, 1, MPI_UNSIGNED_LONG_LONG, from, 0, MPI_COMM_WORLD, &request);
  (void)wait(request);
  std::vector<double> values(size);
  for (std::size_t first = 0; first < values.size(); first += most_at_once)
    MPI_Recv(values.data() + first, static_cast<int>(std::min(most_at_once, values.size() - first)), MPI_DOUBLE, from,
             0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return values;
}

int least(int mine) {
  int all = 0;
  MPI_Request request;
  MPI_Iallreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD, &request);
  (void)wait(request);
  return all;
}

constexpr int none = std::numeric_limits<int>::max();

}  // namespace

Mpi::Mpi(int* argc, char*** argv) {
  int provided = 0;
  MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  MPI_Comm_dup(MPI_COMM_WORLD, &endings_);
}

Mpi::~Mpi() {
  MPI_Finalize();
}

Ranks Mpi::ranks() const {
  return {rank_, size_, send_values, receive_values, [rank = rank_](bool failed) {
            const int first = least(failed ? rank : none);
            return first == none ? -1 : first;
          }};
}

int Mpi::end(const cli::Ending& ending) const {
  // The lowest rank with an error of its own, and its exit code.
  const int mine = ending.error.empty() || ending.elsewhere ? none : 256 * rank_ + ending.code;
  int first = mine;
  MPI_Request request;
  MPI_Iallreduce(&mine, &first, 1, MPI_INT, MPI_MIN, endings_, &request);
  const bool all = wait(request, ending.code == 0 ? Clock::time_point::max() : Clock::now() + patience);
  std::fflush(stdout);
  if (!ending.error.empty() && (!all || first == mine)) {
    if (size_ > 1) std::fprintf(stderr, "rank %d: ", rank_);
    std::fputs(ending.error.c_str(), stderr);
    std::fflush(stderr);
  }
  if (!all) MPI_Abort(MPI_COMM_WORLD, ending.code);
  return ending.elsewhere && first != none ? first % 256 : ending.code;
}

}  // namespace supple
