#pragma once
// What `supple bench` found: rows measured in turn over several rounds, what the machine can do, the tables and JSON.

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/mechanics/reduced/step_work.hpp"
#include "engine/reduction/validate.hpp"
#include "solvers/dense/device_peaks.hpp"
#include "solvers/dense/machine_peaks.hpp"

namespace supple::cli {

struct Context;

// What an inverse case found beside its rate.
struct BenchControl {
  double tracking_error_median = 0;  // m
  double qp_us_median = 0;
  long held_steps = 0, saturated_steps = 0;
};

struct BenchRow {
  std::string name, file;  // of the case; of its scene or model
  int batch = 1, modes = 0, elements = 0, strain_modes = 0;
  std::optional<double> error;          // mean goal error; none: it is the reference itself
  std::optional<StepWork> work;         // of one robot; none: not counted
  std::optional<BenchControl> control;  // of inverse cases, the last round
  std::string precision;  // fp64, mixed, fp32: by batched algebra; empty: robot by robot, or the full model
  bool resident = false;  // the states stay on the device
  bool fused = false;     // its factors and solves by teams
  bool contact = false;   // device-resident: in contact with obstacles
  ContactSolver contact_solver = ContactSolver::device;  // of its forces
  double gradient_read = 0;                              // bytes/s of reading a block as large as G, one core
  std::vector<Rate> rounds;                              // one for each round
  bool failed() const;
};

struct BenchMachine {
  std::string device;
  MachinePeaks peaks;                 // of one core
  std::optional<DevicePeaks> gpu;     // where reduced models run there
  std::vector<double> load{0, 0, 0};  // averages over 1, 5 and 15 minutes, the larger of before and after
};

// The round of median speed, with the medians over the rounds of its 99 % and 99.9 % quantiles, all steps counted, and
// the hash of the first round. The status of a round that failed, if one did.
Rate typical(const std::vector<Rate>& rounds);
// (slowest - fastest) / median of the median step times of the rounds.
double spread(const std::vector<Rate>& rounds);

// Whether rounds of as many steps ended in the same state, bit for bit.
bool same_states(const std::vector<Rate>& rounds);

// steps/s of a row over those of another, round by round.
struct Ratio {
  double median = 0, least = 0, largest = 0;
};
Ratio ratio(const BenchRow& row, const BenchRow& reference);
// The row of the full model beside a reduced one, full/NAME for forward/NAME; null if it was not measured or failed.
const BenchRow* full_beside(const BenchRow& row, const std::vector<BenchRow>& rows);

// Shares of what the cores at work can do: of the peak of fused multiply-adds for a stage or a whole step, and of the
// roofline, the least time of the forces over theirs: max(flop / peak, bytes / bandwidth).
struct Shares {
  int cores = 1;
  double forces = 0, factor = 0, solve = 0, step = 0;  // of the peak
  double roofline = 0;
};
// None without counted work, or for a row that failed or ran on a GPU. `threads`: of the program.
std::optional<Shares> shares_of(const BenchRow& row, const BenchMachine& machine, int threads);
// Operations of steps per second over the GPU's own matrix product in double precision. None elsewhere.
std::optional<double> share_of_gpu(const BenchRow& row, const BenchMachine& machine);

// One object for each row.
nlohmann::ordered_json bench_json(const Context& context, const BenchMachine& machine,
                                  const std::vector<BenchRow>& rows);
// Rates and errors; work against the roofs; the machine.
void print_bench(const Context& context, const BenchMachine& machine, const std::vector<BenchRow>& rows);

}  // namespace supple::cli
