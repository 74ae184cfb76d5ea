#include "solvers/sparse/batch_plan.hpp"

#include <algorithm>
#include <limits>

#include "kernels/base/contract.hpp"

namespace supple {
namespace {

// Neighbouring threads of a GPU's warp.
constexpr int gpu_lanes = 32;

template <class T>
std::size_t bytes_of(const std::vector<T>& list) {
  return list.size() * sizeof(T);
}

}  // namespace

BatchForm batch_form(const Device& device) {
  if (device.kind == Device::Kind::cpu) return {FrontOrder::by_fronts, Pack<double>::width, true};
  return {FrontOrder::by_levels, gpu_lanes, false};
}

BatchPlan::BatchPlan(std::shared_ptr<const AssemblyTree> tree, const BatchForm& form)
    : tree_(std::move(tree)), form_(form) {
  SUPPLE_EXPECT(tree_->pattern.block == 3 && form.lanes > 0);
  SUPPLE_EXPECT(!form.registers || form.lanes == Pack<double>::width);
  place_fronts();
  place_rows();
  place_blocks();
  schedule = schedule_fronts(fronts, tree_->level, form_.order);
  shared_bytes_ = bytes_of(fronts) + bytes_of(contribution_start) + bytes_of(contributions) + bytes_of(node_of_row) +
                  bytes_of(source) + bytes_of(blocks) + bytes_of(node) + bytes_of(diagonal_at) +
                  bytes_of(schedule.tasks);
  const auto numbers = static_cast<std::size_t>((factor_tiles + update_tiles) * front_tile +
                                                (nodes() + remaining_rows) * 3 * batch_right_sides + 3 * nodes());
  group_bytes_ =
      static_cast<std::size_t>(form_.lanes) * (numbers * sizeof(double) + 2 * (fronts.size() + 1) * sizeof(int));
}

int BatchPlan::robots_within(std::size_t bytes) const {
  if (bytes < shared_bytes_) return 0;
  const std::size_t groups = (bytes - shared_bytes_) / group_bytes_;
  const std::size_t most = static_cast<std::size_t>(std::numeric_limits<int>::max() / form_.lanes);
  return static_cast<int>(std::min(groups, most)) * form_.lanes;
}

void BatchPlan::place_fronts() {
  std::ptrdiff_t rows = 0;
  for (int s = 0; s < tree_->count(); ++s) {
    BatchFront front;
    front.own = tree_->own(s);
    front.rows = front.own + tree_->below(s);
    front.first = tree_->first[s];
    front.factor = factor_tiles;
    front.row = rows;
    factor_tiles += front.factor_tiles();
    rows += front.rows;
    fronts.push_back(front);
  }
  const auto placed = [this](const std::function<std::ptrdiff_t(int)>& size, std::ptrdiff_t BatchFront::*start) {
    const UpdatePlaces places =
        form_.order == FrontOrder::by_fronts ? stacked_updates(*tree_, size) : updates_by_level(*tree_, size);
    for (int s = 0; s < tree_->count(); ++s)
      fronts[s].*start = places.start[s] + (tree_->level[s] % 2 == 0 ? 0 : places.size[0]);
    return places.size[0] + places.size[1];
  };
  update_tiles = placed([this](int s) { return fronts[s].update_tiles(); }, &BatchFront::update);
  remaining_rows = placed([this](int s) { return tree_->below(s); }, &BatchFront::remaining);
}

void BatchPlan::place_rows() {
  std::vector<std::vector<FrontContribution>> lists;
  contribution_start.push_back(0);
  for (int s = 0; s < tree_->count(); ++s) {
    lists.assign(static_cast<std::size_t>(fronts[s].rows), {});
    for (int child = tree_->child[s]; child >= 0; child = tree_->sibling[child])
      for (int i = 0; i < tree_->below(child); ++i) {
        const int row = tree_->row_in_parent[static_cast<std::size_t>(tree_->row_start[child] + i)];
        lists[static_cast<std::size_t>(row)].push_back({child, i});
      }
    for (int r = 0; r < fronts[s].rows; ++r)
      node_of_row.push_back(r < fronts[s].own
                                ? fronts[s].first + r
                                : tree_->row[static_cast<std::size_t>(tree_->row_start[s] + r - fronts[s].own)]);
    for (const auto& list : lists) {
      contributions.insert(contributions.end(), list.begin(), list.end());
      contribution_start.push_back(static_cast<int>(contributions.size()));
    }
  }
}

void BatchPlan::place_blocks() {
  const SymmetricPattern& pattern = tree_->pattern;
  source.assign(static_cast<std::size_t>(factor_tiles), -1);
  for (int s = 0; s < tree_->count(); ++s)
    for (int e = tree_->entry_start[s]; e < tree_->entry_start[s + 1]; ++e) {
      const AssemblyTree::Entry& entry = tree_->entries[e];
      MatrixBlock block{{}, entry.block == 0, entry.transposed};
      for (int k = 0; k < 3; ++k) block.at[k] = pattern.column_start[3 * entry.column + k] + 3 * entry.block - k;
      source[static_cast<std::size_t>(fronts[s].factor_tile(entry.front_row, entry.front_column))] =
          static_cast<int>(blocks.size());
      blocks.push_back(block);
    }
  node.resize(tree_->place.size());
  for (std::size_t i = 0; i < tree_->place.size(); ++i)
    node[static_cast<std::size_t>(tree_->place[i])] = static_cast<int>(i);
  for (const int i : node)
    for (int c = 0; c < 3; ++c) diagonal_at.push_back(pattern.column_start[3 * i + c]);
}

}  // namespace supple
