#include "bench/validation/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace supple::validation {

namespace {

double largest_error(const Run& run) {
  double largest = run.failure.empty() ? 0 : INFINITY;
  for (const Figure& figure : run.figures) largest = std::max(largest, std::abs(figure.error()));
  return largest;
}

// log2 of the ratio of the errors of the last figure on the last two meshes; none where the last is below 1e-4, where
// the reference itself may be as wrong.
std::string order_of(const std::vector<Run>& runs) {
  if (runs.size() < 2 || runs.back().figures.empty() || runs[runs.size() - 2].figures.empty()) return "";
  const double last = std::abs(runs.back().figures.back().error()),
               before = std::abs(runs[runs.size() - 2].figures.back().error());
  return last < 1e-4 ? "" : fmt::format("{:.1f}", std::log2(before / last));
}

std::size_t default_index() {
  return static_cast<std::size_t>(&default_element() - elements().data());
}

}  // namespace

std::string line(const Element& element, const Run& run) {
  std::string text = fmt::format("{:28} {:14} {:8} {:8.2f} s", element.name, run.mesh, run.unknowns, run.seconds);
  for (const Figure& figure : run.figures)
    text += fmt::format("   {} {:.6g} ({:+.2f} %)", figure.quantity, figure.value, 100 * figure.error());
  if (run.steps_per_second > 0) text += fmt::format("   {:.3g} steps/s", run.steps_per_second);
  return text + (run.failure.empty() ? "" : "   " + run.failure);
}

bool meets_bar(const Case& each, const Run& run) {
  return run.failure.empty() && !run.figures.empty() &&
         std::ranges::all_of(run.figures, [&](const Figure& figure) { return std::abs(figure.error()) <= each.bar; });
}

std::string page(const std::vector<CaseRuns>& cases) {
  std::string text =
      "# Validation\n\n"
      "Cases with known answers, each solved with every kind of element. `build/bench/supple_validation --write\n"
      "docs/validation.md` makes this page. Times are those of one core of an x86-64 machine with AVX-512 and other "
      "work beside, with\nall there is to a run: mesh, analysis, Newton's method. *Order* is log₂ of the ratio of the "
      "errors of the last figure on the last two meshes.\n"
      "The elements are described in [the theory](theory/full-model.md).\n\n"
      "| case | practical mesh of tetrahedra of second order | unknowns | largest error | bar "
      "|\n|---|---|---|---|---|\n";
  for (const CaseRuns& each : cases) {
    const Run& run = each.runs[default_index()][static_cast<std::size_t>(each.of->practical)];
    text += fmt::format("| {} | {} | {} | {:.2g} % | {:.0f} %{} |\n", each.of->title, run.mesh, run.unknowns,
                        100 * largest_error(run), 100 * each.of->bar, meets_bar(*each.of, run) ? "" : ", missed");
  }
  for (const CaseRuns& each : cases) {
    text += fmt::format("\n## {}\n\n{}\n\n| element | mesh | unknowns | time |", each.of->title, each.of->text);
    std::string rule = "|---|---|---|---|";
    const bool steps = each.runs[default_index()].front().steps_per_second > 0;
    if (steps) {
      text += " steps/s |";
      rule += "---|";
    }
    for (const Figure& figure : each.runs[default_index()].front().figures) {
      text += fmt::format(" {} ({:.6g}) |", figure.quantity, figure.reference);
      rule += "---|";
    }
    text += " order |\n" + rule + "---|\n";
    for (std::size_t e = 0; e < each.runs.size(); ++e)
      for (std::size_t k = 0; k < each.runs[e].size(); ++k) {
        const Run& run = each.runs[e][k];
        text += fmt::format("| {} | {} | {} | {:.2g} s |", elements()[e].name, run.mesh, run.unknowns, run.seconds);
        if (steps) text += fmt::format(" {:.3g} |", run.steps_per_second);
        for (const Figure& figure : run.figures)
          text += fmt::format(" {:.6g} ({:+.2f} %) |", figure.value, 100 * figure.error());
        if (!run.failure.empty()) text += fmt::format(" {} |", run.failure);
        text += fmt::format(" {} |\n", k + 1 == each.runs[e].size() ? order_of(each.runs[e]) : "");
      }
  }
  return text;
}

}  // namespace supple::validation
