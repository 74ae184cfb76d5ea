#pragma once
// Full-order work in worker processes: the sequential sparse solver allows one factorisation per process. Each worker
// is the `snapshots` verb on one shard of the same folder; the parent only watches files appear.

#include <functional>
#include <string>
#include <vector>

#include "kernels/base/progress.hpp"

namespace supple {

// Runs `jobs` processes, the k-th with the words of `program` (its path first) and then arguments(k), and waits. `done`
// is polled for progress (units of `total`). What
// worker k prints goes to `folder`/worker-PID-k.log, which stays only if it failed. A failed worker is a RunError with
// its last words and its log; a stop request is passed on as SIGINT and becomes Interrupted. Workers are killed when
// the calling thread ends before them, however it ends.
void run_workers(const std::vector<std::string>& program, int jobs, const std::string& folder,
                 const std::function<std::vector<std::string>(int)>& arguments, const std::string& stage, double total,
                 const std::function<double()>& done, const Progress& progress);

}  // namespace supple
