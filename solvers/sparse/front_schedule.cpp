#include "solvers/sparse/front_schedule.hpp"

#include <algorithm>

namespace supple {
namespace {

// Node columns of a panel. Bits depend on it only in the backward substitution.
constexpr int panel_columns = 6;
// Rows of one task: two share the registers of a column (front_factor_ops.hpp).
constexpr int rows_of_task = 2;

class Scheduler {
 public:
  explicit Scheduler(const std::vector<BatchFront>& fronts) : fronts_(fronts) {}

  // Fronts whose ops may run together.
  void add(const std::vector<int>& together) {
    int panels = 0;
    for (const int s : together) panels = std::max(panels, (fronts_[s].own + panel_columns - 1) / panel_columns);
    gather(together);
    for (int p = 0; p < panels; ++p) eliminate(together, p);
    const int begin = here();
    for (const int s : together)
      for (int c = fronts_[s].own; c < fronts_[s].rows; c += panel_columns)
        add_tiles(s, c, std::min(c + panel_columns, fronts_[s].rows), fronts_[s].own);
    step(factor_, FrontPhase::update, begin);
    back_.push_back({});
    substitute_back(together, panels);
  }

  FrontSchedule finish() {
    factor_.push_back({FrontPhase::status, 0, 1});
    FrontSchedule schedule{std::move(tasks_), std::move(factor_), std::move(forward_), {}};
    for (auto steps = back_.rbegin(); steps != back_.rend(); ++steps)
      schedule.backward.insert(schedule.backward.end(), steps->begin(), steps->end());
    return schedule;
  }

 private:
  struct Panel {
    int first, columns, end;
  };
  Panel panel(int s, int p) const {
    const int first = p * panel_columns, end = std::min(first + panel_columns, fronts_[s].own);
    return {first, end - first, end};
  }
  int here() const { return static_cast<int>(tasks_.size()); }
  void step(std::vector<FrontStep>& steps, FrontPhase phase, int begin) const {
    if (here() > begin) steps.push_back({phase, begin, here() - begin});
  }
  void add_rows(int s, int from, int to, int column, int columns) {
    for (int r = from; r < to; r += rows_of_task)
      tasks_.push_back({s, r, std::min(rows_of_task, to - r), column, columns});
  }

  // Lower tiles of columns [from, to), two rows with all these columns after one another: their part of the factor is
  // read from far away once.
  void add_tiles(int s, int from, int to, int columns) {
    for (int r = from; r < fronts_[s].rows && from < to; r += rows_of_task) {
      const int end = std::min(r + rows_of_task, fronts_[s].rows);
      for (int c = from; c < std::min(to, end); ++c)
        tasks_.push_back({s, std::max(r, c), end - std::max(r, c), c, columns});
    }
  }

  void gather(const std::vector<int>& together) {
    const int begin = here();
    for (const int s : together) add_rows(s, 0, fronts_[s].rows, 0, 0);
    step(forward_, FrontPhase::forward_gather, begin);
  }

  void eliminate(const std::vector<int>& together, int p) {
    int begin = here();
    for (const int s : together) add_tiles(s, panel(s, p).first, panel(s, p).end, panel(s, p).first);
    step(factor_, FrontPhase::update, begin);
    begin = here();
    for (const int s : together)
      if (panel(s, p).columns > 0) tasks_.push_back({s, 0, 0, panel(s, p).first, panel(s, p).columns});
    step(factor_, FrontPhase::diagonal, begin);
    step(forward_, FrontPhase::diagonal, begin);
    diagonal_.push_back({FrontPhase::diagonal, begin, here() - begin});
    begin = here();
    for (const int s : together)
      if (panel(s, p).columns > 0)
        add_rows(s, panel(s, p).end, fronts_[s].rows, panel(s, p).first, panel(s, p).columns);
    step(factor_, FrontPhase::rows, begin);
    step(forward_, FrontPhase::rows, begin);
  }

  void substitute_back(const std::vector<int>& together, int panels) {
    std::vector<FrontStep>& steps = back_.back();
    int begin = here();
    for (const int s : together)
      for (int c = 0; c < fronts_[s].own && fronts_[s].rows > fronts_[s].own; ++c)
        tasks_.push_back({s, fronts_[s].own, fronts_[s].rows - fronts_[s].own, c, 0});
    step(steps, FrontPhase::backward_column, begin);
    for (int p = panels - 1; p >= 0; --p) {
      steps.push_back(diagonal_.back());
      diagonal_.pop_back();
      begin = here();
      for (const int s : together)
        for (int c = 0; c < panel(s, p).first && panel(s, p).columns > 0; ++c)
          tasks_.push_back({s, panel(s, p).first, panel(s, p).columns, c, 0});
      step(steps, FrontPhase::backward_column, begin);
    }
  }

  const std::vector<BatchFront>& fronts_;
  std::vector<FrontTask> tasks_;
  std::vector<FrontStep> factor_, forward_, diagonal_;
  std::vector<std::vector<FrontStep>> back_;
};

}  // namespace

FrontSchedule schedule_fronts(const std::vector<BatchFront>& fronts, const std::vector<int>& level, FrontOrder order) {
  Scheduler scheduler(fronts);
  const int count = static_cast<int>(fronts.size());
  if (order == FrontOrder::by_fronts) {
    for (int s = 0; s < count; ++s) scheduler.add({s});
    return scheduler.finish();
  }
  std::vector<std::vector<int>> levels;
  for (int s = 0; s < count; ++s) {
    if (level[s] >= static_cast<int>(levels.size())) levels.resize(static_cast<std::size_t>(level[s]) + 1);
    levels[static_cast<std::size_t>(level[s])].push_back(s);
  }
  for (auto together = levels.rbegin(); together != levels.rend(); ++together) scheduler.add(*together);
  return scheduler.finish();
}

}  // namespace supple
