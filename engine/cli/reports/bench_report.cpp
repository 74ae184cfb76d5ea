#include "engine/cli/reports/bench_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/cli/reports/json_report.hpp"
#include "engine/cli/reports/model_facts.hpp"
#include "engine/cli/reports/table.hpp"
#include "engine/cli/shell/build_facts.hpp"
#include "engine/cli/shell/command.hpp"
#include "engine/scene/units.hpp"
#include "kernels/base/hash.hpp"

namespace supple::cli {

namespace {

using Json = nlohmann::ordered_json;

// The lower one of two in the middle.
double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.at((values.size() - 1) / 2);
}

std::vector<double> each(const std::vector<Rate>& rounds, double StepRate::*member) {
  std::vector<double> values;
  for (const Rate& rate : rounds) values.push_back(rate.*member);
  return values;
}

std::string time_of(double us) {
  return format_quantity(1e-6 * us, Dimension::time);
}

Json peaks_json(const MachinePeaks& peaks) {
  return {{"fma_flop_per_s", peaks.fma},
          {"product_flop_per_s", peaks.product},
          {"read_l2_bytes_per_s", peaks.read_l2},
          {"read_l3_bytes_per_s", peaks.read_l3},
          {"read_memory_bytes_per_s", peaks.read_memory}};
}

Json work_json(const BenchRow& row, const Shares& shares) {
  const StepWork& work = *row.work;
  return {{"cores", shares.cores},
          {"flop",
           {{"outputs", work.outputs},
            {"forces", work.forces},
            {"factor", work.factor},
            {"solve", work.solve},
            {"rows", work.rows},
            {"step", work.total()}}},
          {"gradient_bytes", work.gradient_bytes},
          {"gradient_read_bytes_per_s", row.gradient_read},
          {"fraction_of_peak",
           {{"forces", shares.forces}, {"factor", shares.factor}, {"solve", shares.solve}, {"step", shares.step}}},
          {"fraction_of_roofline", shares.roofline}};
}

Json row_json(const BenchRow& row) {
  const Rate rate = typical(row.rounds);
  const auto number = [&](double value) { return row.failed() ? Json() : Json(value); };
  return {{"case", row.name},
          {"file", row.file},
          {"batch", row.batch},
          {"modes", row.modes},
          {"elements", row.elements},
          {"strain_modes", row.strain_modes},
          {"error", row.error ? Json(*row.error) : Json(0.0)},
          {"status", describe(rate.status)},
          {"steps", rate.steps},
          {"rounds", row.rounds.size()},
          {"steps_per_s", number(rate.steps_per_s)},
          {"spread", number(spread(row.rounds))},
          {"p50_us", number(rate.p50_us)},
          {"p99_us", number(rate.p99_us)},
          {"p999_us", number(rate.p999_us)},
          {"stages_us",
           {{"outputs", 1e6 * rate.median.outputs},
            {"forces", 1e6 * rate.median.forces},
            {"factor", 1e6 * rate.median.factor},
            {"solve", 1e6 * rate.median.solve},
            {"rows", 1e6 * rate.median.rows}}},
          {"state_hash", hash_hex(rate.state_hash)}};
}

std::string ratio_text(const Ratio& r) {
  const std::string text = fmt::format("{:.3g}", r.median);
  return r.least == r.largest ? text : fmt::format("{} ({:.3g} to {:.3g})", text, r.least, r.largest);
}

void print_rates(const Context& context, const std::vector<BenchRow>& rows) {
  std::vector<std::vector<std::string>> table{
      {"case", "batch", "modes", "elements", "error", "steps/s", "median", "99 %", "99.9 %", "spread", "times full"}};
  bool few = false;
  for (const BenchRow& row : rows) {
    const Rate rate = typical(row.rounds);
    const BenchRow* full = full_beside(row, rows);
    const bool ok = !row.failed();
    few = few || rate.steps < 100'000;
    table.push_back({row.name, fmt::format("{}", row.batch), row.modes > 0 ? fmt::format("{}", row.modes) : "-",
                     forces_of(row.elements, row.strain_modes),
                     !row.error                  ? "reference"
                     : std::isfinite(*row.error) ? percent(*row.error)
                                                 : "unknown",
                     ok ? fmt::format("{:.4g}", rate.steps_per_s) : "failed", ok ? time_of(rate.p50_us) : "-",
                     ok ? time_of(rate.p99_us) : "-", ok ? time_of(rate.p999_us) : "-",
                     ok && row.rounds.size() > 1 ? percent(spread(row.rounds)) : "-",
                     ok && full ? ratio_text(ratio(row, *full)) : "-"});
  }
  fmt::print("{}", format_table(table, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  const std::size_t rounds = rows.front().rounds.size();
  fmt::print("one-linearisation implicit Euler steps, commands changing every step, {} thread{}\n{}{}\n",
             context.common.threads, context.common.threads > 1 ? "s" : "",
             rounds > 1 ? fmt::format("medians of {} rounds, cases in turn", rounds) : "one round",
             few ? "; the 99.9 % of fewer than 100000 steps are a guess" : "");
}

void print_work(const Context& context, const BenchMachine& machine, const std::vector<BenchRow>& rows) {
  std::vector<std::vector<std::string>> table{
      {"case", "batch", "kflop", "Gflop/s", "of peak", "forces", "factor", "solve", "G", "flop/byte", "of roofline"}};
  for (const BenchRow& row : rows) {
    const auto shares = shares_of(row, machine, context.common.threads);
    if (!shares) continue;
    const StepWork& work = *row.work;
    const StageTimes stages = typical(row.rounds).median;
    const auto stage = [](double seconds, double share) {
      return fmt::format("{}, {}", format_quantity(seconds, Dimension::time), percent(share));
    };
    table.push_back({row.name, fmt::format("{}", row.batch), fmt::format("{:.4g}", 1e-3 * work.total()),
                     fmt::format("{:.3g}", 1e-9 * shares->step * machine.peaks.fma * shares->cores),
                     percent(shares->step), stage(stages.forces, shares->forces), stage(stages.factor, shares->factor),
                     stage(stages.solve, shares->solve), fmt::format("{:.3g} MB", 1e-6 * work.gradient_bytes),
                     fmt::format("{:.3g}", work.forces / work.gradient_bytes), percent(shares->roofline)});
  }
  if (table.size() == 1) return;
  fmt::print("\n{}", format_table(table, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  fmt::print(
      "work of one robot's step as the method asks for it; shares of the fused multiply-add peak of the cores at "
      "work;\n"
      "of roofline: the longer of flop / peak and G / reading speed at its size, over the time of the forces\n");
}

void print_machine(const BenchMachine& machine) {
  const MachinePeaks& peaks = machine.peaks;
  const auto giga = [](double value, const char* unit) { return fmt::format("{:.4g} {}", 1e-9 * value, unit); };
  fmt::print("\n");
  if (machine.gpu)
    print_facts({{"GPU", fmt::format("{} matrix product, {} in single precision; copies {} to it, {} from it",
                                     giga(machine.gpu->product, "Gflop/s"), giga(machine.gpu->product_fp32, "Gflop/s"),
                                     giga(machine.gpu->to_device, "GB/s"), giga(machine.gpu->from_device, "GB/s"))}});
  print_facts({{"processor", processor()},
               {"device", machine.device},
               {"build", fmt::format("{}, {}, {}", build_type(), isa(), compiler_flags())},
               {"commit", commit()},
               {"load", fmt::format("{:.2f}", fmt::join(machine.load, " "))},
               {"one core", fmt::format("{} fused multiply-adds, {} packed matrix product", giga(peaks.fma, "Gflop/s"),
                                        giga(peaks.product, "Gflop/s"))},
               {"reading", fmt::format("{} in L2, {} in L3, {} in memory", giga(peaks.read_l2, "GB/s"),
                                       giga(peaks.read_l3, "GB/s"), giga(peaks.read_memory, "GB/s"))}});
}

}  // namespace

bool BenchRow::failed() const {
  return typical(rounds).status != StepStatus::ok;
}

Rate typical(const std::vector<Rate>& rounds) {
  Rate found;
  if (rounds.empty()) return found;
  const double middle = median(each(rounds, &StepRate::p50_us));
  found = *std::ranges::find(rounds, middle, &Rate::p50_us);
  found.p99_us = median(each(rounds, &StepRate::p99_us));
  found.p999_us = median(each(rounds, &StepRate::p999_us));
  found.state_hash = rounds.front().state_hash;
  found.steps = 0;
  for (const Rate& rate : rounds) {
    found.steps += rate.steps;
    if (rate.status != StepStatus::ok) found.status = rate.status;
  }
  return found;
}

double spread(const std::vector<Rate>& rounds) {
  const std::vector<double> times = each(rounds, &StepRate::p50_us);
  if (times.empty()) return 0;
  const auto [least, largest] = std::ranges::minmax(times);
  return least < largest ? (largest - least) / median(times) : 0;
}

bool same_states(const std::vector<Rate>& rounds) {
  for (const Rate& a : rounds)
    for (const Rate& b : rounds)
      if (a.steps + a.warm_up == b.steps + b.warm_up && a.state_hash != b.state_hash) return false;
  return true;
}

Ratio ratio(const BenchRow& row, const BenchRow& reference) {
  std::vector<double> ratios;
  for (std::size_t k = 0; k < std::min(row.rounds.size(), reference.rounds.size()); ++k)
    ratios.push_back(row.rounds[k].steps_per_s / reference.rounds[k].steps_per_s);
  if (ratios.empty()) return {};
  const auto [least, largest] = std::ranges::minmax(ratios);
  return {median(ratios), least, largest};
}

const BenchRow* full_beside(const BenchRow& row, const std::vector<BenchRow>& rows) {
  constexpr std::string_view forward = "forward/", inverse = "inverse/";
  std::string full;
  if (row.name.starts_with(forward))
    full = fmt::format("full/{}", row.name.substr(forward.size()));
  else if (row.name.starts_with(inverse))
    full = fmt::format("full-inverse/{}", row.name.substr(inverse.size()));
  const auto found = std::ranges::find(rows, full, &BenchRow::name);
  return found == rows.end() || found->failed() ? nullptr : &*found;
}

std::optional<double> share_of_gpu(const BenchRow& row, const BenchMachine& machine) {
  if (!machine.gpu || !row.work || row.failed()) return std::nullopt;
  return row.work->total() * typical(row.rounds).steps_per_s / machine.gpu->product;
}

std::optional<Shares> shares_of(const BenchRow& row, const BenchMachine& machine, int threads) {
  if (machine.gpu || !row.work || row.failed()) return std::nullopt;
  const MachinePeaks& peaks = machine.peaks;
  const Rate rate = typical(row.rounds);
  const StepWork& work = *row.work;
  Shares shares;
  shares.cores = std::min(row.batch, std::max(1, threads));
  const auto share = [&](double flop, double seconds) {
    return seconds > 0 ? row.batch * flop / (seconds * peaks.fma * shares.cores) : 0;
  };
  shares.forces = share(work.forces, rate.median.forces);
  shares.factor = share(work.factor, rate.median.factor);
  shares.solve = share(work.solve, rate.median.solve);
  shares.step = share(work.total(), 1e-6 * rate.p50_us);
  const double least = std::max(work.forces / peaks.fma, work.gradient_bytes / row.gradient_read);
  const double forces = rate.median.forces;
  shares.roofline = forces > 0 ? least * row.batch / (shares.cores * forces) : 0;
  return shares;
}

// Of all rounds.
Json contact_json(const BenchRow& row) {
  ContactFigures figures;
  constexpr const char* solvers[] = {"device", "sweeps", "host"};  // as ContactSolver has them
  for (const Rate& round : row.rounds) figures.include(round.contact);
  return {{"solver", solvers[static_cast<std::size_t>(row.contact_solver)]},
          {"most_rows", figures.rows},
          {"most_touching", figures.touching},
          {"largest_residual", figures.residual},
          {"softened", figures.softened},
          {"problems", figures.on_device},
          {"left_to_host", figures.on_host},
          {"sweeps", figures.sweeps},
          {"newton_steps", figures.newton_steps}};
}

Json bench_json(const Context& context, const BenchMachine& machine, const std::vector<BenchRow>& rows) {
  Json json = Json::array();
  for (const BenchRow& row : rows) {
    Json entry = row_json(row);
    const BenchRow* full = full_beside(row, rows);
    if (full && !row.failed()) {
      const Ratio r = ratio(row, *full);
      entry["times_full"] = {{"median", r.median}, {"least", r.least}, {"largest", r.largest}};
    }
    if (const auto shares = shares_of(row, machine, context.common.threads)) entry.update(work_json(row, *shares));
    if (!row.precision.empty()) entry["precision"] = row.precision;
    if (!row.precision.empty()) entry["resident"] = row.resident;
    if (row.resident) entry["fused"] = row.fused;
    if (row.contact && !row.rounds.empty()) entry["contact"] = contact_json(row);
    if (const auto share = share_of_gpu(row, machine)) {
      entry["flop"] = {{"step", row.work->total()}};
      entry["fraction_of_gpu_product"] = *share;
    }
    if (machine.gpu)
      entry["gpu_peaks"] = {{"product", machine.gpu->product},
                            {"product_fp32", machine.gpu->product_fp32},
                            {"to_device_bytes_per_s", machine.gpu->to_device},
                            {"from_device_bytes_per_s", machine.gpu->from_device}};
    if (row.control) {
      entry["tracking_error_median"] = row.control->tracking_error_median;
      entry["qp_us_median"] = row.control->qp_us_median;
      entry["held_steps"] = row.control->held_steps;
      entry["saturated_steps"] = row.control->saturated_steps;
    }
    entry["peaks"] = peaks_json(machine.peaks);
    entry["load"] = machine.load;
    entry.update(machine_facts(context, machine.device));
    entry["flags"] = compiler_flags();
    json.push_back(std::move(entry));
  }
  return json;
}

void print_bench(const Context& context, const BenchMachine& machine, const std::vector<BenchRow>& rows) {
  if (rows.empty()) return;
  print_rates(context, rows);
  print_work(context, machine, rows);
  print_machine(machine);
}

}  // namespace supple::cli
