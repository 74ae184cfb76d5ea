#include "solvers/sparse/multifrontal.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/base/contract.hpp"
#include "solvers/sparse/backends.hpp"

namespace supple {

using frontal::Front, frontal::Register, frontal::W;

Front MultifrontalCholesky::front(int s) {
  Front front = shape(s);
  front.factor = factor_.data() + factor_start_[s];
  return front;
}

Front MultifrontalCholesky::shape(int s) const {
  const int b = tree_->pattern.block;
  return {b * (tree_->own(s) + tree_->below(s)), b * tree_->own(s), nullptr};
}

void MultifrontalCholesky::analyse(const SymmetricPattern& pattern) {
  analyse(std::make_shared<const AssemblyTree>(assembly_tree(pattern)));
}

void MultifrontalCholesky::analyse(std::shared_ptr<const AssemblyTree> tree) {
  tree_ = std::move(tree);
  supernode_.clear();
  panels_.clear();
  factor_start_.assign(1, 0);
  for (int s = 0; s < tree_->count(); ++s)
    factor_start_.push_back(factor_start_.back() + static_cast<std::ptrdiff_t>(shape(s).factor_size()));
  factor_.clear();  // what is large is allocated by the first factorisation
  updates_ = stacked_updates(
      *tree_, [this](int s) { return static_cast<std::ptrdiff_t>(shape(s).update_size()) * shape(s).update_size(); });
  find_runs();
}

void MultifrontalCholesky::allocate() {
  std::size_t largest = 0;
  int tallest = 0;
  for (int s = 0; s < tree_->count(); ++s) {
    const Front front = shape(s);
    largest = std::max(largest, front.factor_size());
    tallest = std::max(tallest, front.padded_rows());
  }
  columns_.resize(largest);
  diagonal_.resize(tree_->pattern.n);
  signs_.resize(tree_->pattern.n);
  right_.resize(static_cast<std::size_t>(tree_->pattern.n) * W);
  local_.resize(static_cast<std::size_t>(tallest) * W);
  for (int k = 0; k < 2; ++k) update_[k].resize(updates_.size[k]);
  factor_.resize(factor_start_.back());
}

void MultifrontalCholesky::find_runs() {
  runs_.clear();
  run_start_.assign(1, 0);
  for (int s = 0; s < tree_->count(); ++s) {
    const int* rows = tree_->row_in_parent.data() + tree_->row_start[s];
    for (int i = 0; i < tree_->below(s); ++i) {
      if (i == 0 || rows[i] != rows[i - 1] + 1) runs_.push_back({i, rows[i], 0});
      ++runs_.back().rows;
    }
    run_start_.push_back(static_cast<int>(runs_.size()));
  }
}

void MultifrontalCholesky::assemble(const Front& front, int s, const double* values) {
  const int b = tree_->pattern.block;
  const std::size_t ld = front.padded_rows();
  std::fill_n(columns_.data(), front.factor_size(), 0.0);
  for (int e = tree_->entry_start[s]; e < tree_->entry_start[s + 1]; ++e) {
    const AssemblyTree::Entry& entry = tree_->entries[e];
    double* out = columns_.data() + b * entry.front_column * ld + b * entry.front_row;
    const std::size_t down = entry.transposed ? ld : 1, across = entry.transposed ? 1 : ld;
    for (int c = 0; c < b; ++c) {
      const double* column = values + tree_->pattern.column_start[b * entry.column + c] + b * entry.block - c;
      for (int r = entry.block == 0 ? c : 0; r < b; ++r) out[r * down + c * across] = column[r];
    }
  }
}

// Adds those columns of a child's update whose rows in the parent's front lie in [begin, end) blocks to a column-major
// matrix that starts at row and column `skipped` of that front.
void MultifrontalCholesky::extend_add(int child, int begin, int end, double* target, std::size_t target_ld,
                                      int skipped) const {
  const int b = tree_->pattern.block;
  const Front front = shape(child);
  const std::size_t ld = front.update_size();
  const double* update = update_[tree_->level[child] % 2].data() + updates_.start[child] +
                         (front.columns - W * front.first_remaining_slab()) * (ld + 1);
  const Run* last = runs_.data() + run_start_[child + 1];
  for (const Run* run = runs_.data() + run_start_[child]; run < last; ++run)
    for (int j = std::max(0, begin - run->parent_row); j < std::min(run->rows, end - run->parent_row); ++j)
      for (int c = 0; c < b; ++c) {
        const double* from = update + (b * (run->row + j) + c) * ld;
        double* to = target + (b * (run->parent_row + j) + c - skipped) * target_ld;
        const auto add = [&](int row, int parent_row, int rows) {
          for (int i = 0; i < b * rows; ++i) to[b * parent_row - skipped + i] += from[b * row + i];
        };
        add(run->row + j, run->parent_row + j, run->rows - j);
        for (const Run* next = run + 1; next < last; ++next) add(next->row, next->parent_row, next->rows);
      }
}

// Whether columns of a front with S = -1 have entries that are too large for their rows.
bool MultifrontalCholesky::grows(const Front& front, int s) const {
  const int b = tree_->pattern.block, first = b * tree_->first[s], own = front.columns;
  for (int k = 0; k < own; ++k) {
    if (front.signs[k] > 0) continue;
    for (int i = k; i < front.rows; ++i) {
      const int below = i - own;
      const int row = i < own ? first + i : b * tree_->row[tree_->row_start[s] + below / b] + below % b;
      const double stored = front.slab(i / W)[k * W + i % W], entry = i == k ? 1 / stored : stored;
      if (!(entry * entry <= sparse_most_growth * std::abs(diagonal_[row]))) return true;
    }
  }
  return false;
}

PivotStatus MultifrontalCholesky::factor(const double* values, double smallest_pivot, Definiteness kind) {
  if (factor_.empty()) allocate();
  std::fill(signs_.begin(), signs_.end(), 1.0);
  const SymmetricPattern& pattern = tree_->pattern;
  for (int i = 0; i < pattern.n; ++i)
    diagonal_[pattern.block * tree_->place[i / pattern.block] + i % pattern.block] = values[pattern.column_start[i]];
  negative_.clear();
  PivotStatus status = PivotStatus::ok;
  bool nearly_singular = false;
  for (int s = 0; s < tree_->count(); ++s) {
    Front front = this->front(s);
    assemble(front, s, values);
    for (int child = tree_->child[s]; child >= 0; child = tree_->sibling[child])
      extend_add(child, 0, tree_->own(s), columns_.data(), front.padded_rows(), 0);
    const int first = tree_->pattern.block * tree_->first[s];
    const int failed = eliminate(front, columns_.data(), [&](int column, double pivot) {
      const double own = std::abs(diagonal_[first + column]), least = smallest_pivot * own;
      if (std::abs(pivot) <= sparse_nearly_singular * own) nearly_singular = true;
      if (pivot > least) return 1.0;
      if (kind == Definiteness::indefinite && pivot < -least) {
        front.signs = signs_.data() + first;
        signs_[first + column] = -1;
        negative_.push_back(first + column);
        return -1.0;
      }
      status = pivot >= -least ? PivotStatus::vanished : PivotStatus::negative;
      return 0.0;
    });
    if (failed >= 0) return status;
    if (front.signs != nullptr && grows(front, s)) return PivotStatus::negative;
    if (tree_->parent[s] < 0) continue;
    double* update = update_[tree_->level[s] % 2].data() + updates_.start[s];
    form_update(front, update);
    for (int child = tree_->child[s]; child >= 0; child = tree_->sibling[child])
      extend_add(child, tree_->own(s), tree_->own(s) + tree_->below(s), update, front.update_size(),
                 W * front.first_remaining_slab());
  }
  if (nearly_singular && !negative_.empty()) return PivotStatus::negative;
  return status;
}

// The front's rows of the right-hand sides [n][W], the last slab filled up with zeros.
void MultifrontalCholesky::gather(int s, const std::vector<double>& right) {
  const int b = tree_->pattern.block, own = b * tree_->own(s) * W;
  std::copy_n(right.data() + static_cast<std::size_t>(b * tree_->first[s]) * W, own, local_.data());
  double* local = local_.data() + own;
  for (std::ptrdiff_t k = tree_->row_start[s]; k < tree_->row_start[s + 1]; ++k, local += b * W)
    std::copy_n(right.data() + static_cast<std::size_t>(b * tree_->row[k]) * W, b * W, local);
  std::fill(local, local_.data() + static_cast<std::size_t>(shape(s).padded_rows()) * W, 0.0);
}

void MultifrontalCholesky::scatter(int s, std::vector<double>& right) const {
  const int b = tree_->pattern.block, own = b * tree_->own(s) * W;
  std::copy_n(local_.data(), own, right.data() + static_cast<std::size_t>(b * tree_->first[s]) * W);
  const double* from = local_.data() + own;
  for (std::ptrdiff_t k = tree_->row_start[s]; k < tree_->row_start[s + 1]; ++k, from += b * W)
    std::copy_n(from, b * W, right.data() + static_cast<std::size_t>(b * tree_->row[k]) * W);
}

void MultifrontalCholesky::solve(double* x, int count) {
  const int b = tree_->pattern.block, n = tree_->pattern.n;
  const auto row_of = [&](int block) { return right_.data() + static_cast<std::size_t>(b * block) * W; };
  for (int first = 0; first < count; first += W) {
    const int width = std::min(W, count - first);
    double* columns = x + static_cast<std::size_t>(first) * n;
    for (int i = 0; i < n; ++i) {
      double* row = row_of(tree_->place[i / b]) + i % b * W;
      for (int c = 0; c < W; ++c) row[c] = c < width ? columns[static_cast<std::size_t>(c) * n + i] : 0.0;
    }
    for (int s = 0; s < tree_->count(); ++s) {
      gather(s, right_);
      substitute_forward(front(s), local_.data());
      scatter(s, right_);
    }
    for (const int i : negative_)
      for (int c = 0; c < W; ++c) right_[static_cast<std::size_t>(i) * W + c] *= -1;
    for (int s = tree_->count() - 1; s >= 0; --s) {
      gather(s, right_);
      substitute_backward(front(s), local_.data());
      std::copy_n(local_.data(), b * tree_->own(s) * W, row_of(tree_->first[s]));
    }
    for (int i = 0; i < n; ++i) {
      const double* row = row_of(tree_->place[i / b]) + i % b * W;
      for (int c = 0; c < width; ++c) columns[static_cast<std::size_t>(c) * n + i] = row[c];
    }
  }
}

// Columns panel.column of B, those of `columns` counted from first_column on; L^-1 of them.
void MultifrontalCholesky::substitute(Panel& panel, const SparseColumns& columns, int first_column) {
  const int b = tree_->pattern.block;
  for (std::size_t c = 0; c < panel.column.size(); ++c) {
    const int column = panel.column[c] - first_column;
    for (int k = columns.start[column]; k < columns.start[column + 1]; ++k) {
      const int i = columns.row[k], place = tree_->place[i / b];
      panel.rows[static_cast<std::size_t>(b * place + i % b) * W + c] += columns.value[k];
      for (int s = supernode_[place]; s >= 0 && panel.reached[s] == 0; s = tree_->parent[s]) panel.reached[s] = 1;
    }
  }
  for (int s = 0; s < tree_->count(); ++s) {
    if (panel.reached[s] == 0) continue;
    gather(s, panel.rows);
    substitute_forward(front(s), local_.data());
    scatter(s, panel.rows);
  }
}

void MultifrontalCholesky::multiply_inverse(const SparseColumns& columns, bool begin, double* products) {
  const int b = tree_->pattern.block, count = columns.count();
  const auto own_rows = [&](const Panel& panel, int s) {
    return panel.rows.data() + static_cast<std::size_t>(b * tree_->first[s]) * W;
  };
  if (supernode_.empty())
    for (int s = 0; s < tree_->count(); ++s) supernode_.insert(supernode_.end(), tree_->own(s), s);
  if (begin) panels_used_ = panel_columns_ = 0;
  const int first = panel_columns_, first_panel = panels_used_;
  panel_columns_ += count;
  // Neighbours in the order of elimination reach the same supernodes.
  std::vector<int> order(count);
  std::iota(order.begin(), order.end(), 0);
  const auto place = [&](int column) {
    const int k = columns.start[column];
    return k < columns.start[column + 1] ? tree_->place[columns.row[k] / b] : 0;
  };
  std::stable_sort(order.begin(), order.end(), [&](int i, int j) { return place(i) < place(j); });
  for (int from = 0; from < count; from += W) {
    if (panels_used_ == static_cast<int>(panels_.size())) {
      panels_.emplace_back();
      panels_.back().rows.assign(static_cast<std::size_t>(tree_->pattern.n) * W, 0.0);
      panels_.back().reached.assign(tree_->count(), 0);
    }
    Panel& panel = panels_[panels_used_++];
    for (int s = 0; s < tree_->count(); ++s)
      if (panel.reached[s] != 0) {
        double* rows = panel.rows.data() + static_cast<std::size_t>(b * tree_->first[s]) * W;
        std::fill_n(rows, b * tree_->own(s) * W, 0.0);
        panel.reached[s] = 0;
      }
    panel.column.clear();
    for (int c = from; c < std::min(count, from + W); ++c) panel.column.push_back(first + order[c]);
    substitute(panel, columns, first);
  }
  // (L^-1 B_new)^T S L^-1 B_all, panel by panel.
  for (int i = first_panel; i < panels_used_; ++i)
    for (int j = 0; j < panels_used_; ++j) {
      if (j > i) continue;
      const Panel &left = panels_[i], &right = panels_[j];
      Register sum[W];
      for (int c = 0; c < W; ++c) sum[c] = Register(0.0);
      for (int s = 0; s < tree_->count(); ++s) {
        if (left.reached[s] == 0 || right.reached[s] == 0) continue;
        const double *x = own_rows(left, s), *y = own_rows(right, s), *sign = signs_.data() + b * tree_->first[s];
        for (int k = 0; k < b * tree_->own(s); ++k, x += W, y += W, ++sign) {
          const Register row = Register(*sign) * Register::load(y);
          for (int c = 0; c < W; ++c) sum[c] += Register(x[c]) * row;
        }
      }
      double block[W][W];
      for (int c = 0; c < W; ++c) sum[c].store(block[c]);
      for (std::size_t c = 0; c < left.column.size(); ++c)
        for (std::size_t d = 0; d < right.column.size(); ++d) {
          const int row = left.column[c] - first, column = right.column[d];
          products[static_cast<std::size_t>(row) * panel_columns_ + column] = block[c][d];
          if (column >= first)
            products[static_cast<std::size_t>(column - first) * panel_columns_ + row + first] = block[c][d];
        }
    }
}

double MultifrontalCholesky::factor_nonzeros() const {
  double sum = 0;
  for (int s = 0; s < tree_->count(); ++s) {
    const Front size = shape(s);
    sum += size.columns * (size.rows - 0.5 * (size.columns - 1));
  }
  return sum;
}

}  // namespace supple
