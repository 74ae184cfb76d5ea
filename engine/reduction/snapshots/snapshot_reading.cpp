// What a snapshot folder holds, read back.
#include <algorithm>
#include <numeric>

#include "engine/io/hdf5_file.hpp"
#include "engine/reduction/snapshots/snapshots.hpp"
#include "kernels/base/contract.hpp"
#include "kernels/base/error.hpp"
#include "kernels/base/hash.hpp"

namespace supple {

namespace {

constexpr double block_bytes = 2.5e8;
constexpr int least_block = 64;  // states: what is joined with them is as large, and is read and written each time

// a / b of commands along each other; parameters do not differ, and of a push the numbers less than its force.
double share_of(const Sample& a, const Sample& b) {
  double share = 1;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i] && b[i] != 0) share = std::min(share, a[i] / b[i]);
  return share;
}

// The result of `read` for the file of a path; a damaged file is an error with a remedy.
template <class Read>
auto read_path(const Hdf5File& file, const Read& read) {
  try {
    return read(file);
  } catch (const InputError& error) {
    throw InputError(error.what(),
                     "delete this file: `supple reduce` and `supple snapshots --resume` compute its states again",
                     error.place());
  }
}

}  // namespace

std::vector<double> read_displacements(const std::string& folder, const SnapshotSet& set, int nv, int first,
                                       int count) {
  SUPPLE_EXPECT(first >= 0 && first + count <= set.count);
  const auto length = static_cast<std::size_t>(nv);
  std::vector<double> q, path;
  q.reserve(length * static_cast<std::size_t>(count));
  int read = -1;
  for (int s = first; s < first + count; ++s) {
    const SnapshotSet::Source source = set.source[static_cast<std::size_t>(s)];
    if (source.path != read) {
      const Hdf5File file(path_file(folder, source.path), Hdf5File::Mode::read);
      path = read_path(file, [&](const Hdf5File& f) {
        const std::size_t n = f.read_ints("/status").size();
        return f.read_doubles("/q", {n, length});
      });
      read = source.path;
    }
    const auto from = path.begin() + static_cast<long>(source.sample) * nv;
    q.insert(q.end(), from, from + nv);
  }
  return q;
}

ColumnBlocks displacement_blocks(const std::string& folder, const SnapshotSet& set, int nv, int parts) {
  const int most = std::max(1, std::min((set.count + parts - 1) / parts,
                                        std::max(least_block, static_cast<int>(block_bytes / 8 / std::max(1, nv)))));
  ColumnBlocks blocks;
  blocks.rows = nv;
  for (int first = 0; first < set.count; first += most) blocks.counts.push_back(std::min(most, set.count - first));
  blocks.read = [folder, &set, nv, most, counts = blocks.counts](int k, std::vector<double>& storage) {
    storage = read_displacements(folder, set, nv, k * most, counts[static_cast<std::size_t>(k)]);
    return std::span<const double>(storage);
  };
  return blocks;
}

SnapshotSet read_snapshots(const std::string& folder, const SceneIdentity& identity, const SamplingPlan& plan, int nv,
                           int rows, bool with_q) {
  SnapshotSet set;
  for (std::size_t k = 0; k < plan.paths.size(); ++k) {
    const SamplePath& path = plan.paths[k];
    const std::size_t n = path.samples.size();
    const Hdf5File file(path_file(folder, static_cast<int>(k)), Hdf5File::Mode::read);
    if (file.read_text("/identity") != hash_hex(path_identity(identity, plan.converged, path)))
      throw InputError("'" + file.path() + "' belongs to another scene, mesh or sampling",
                       "compute the snapshots again (`supple snapshots --force`)", {file.path(), 0, 0, ""});
    std::vector<int> status, factorisations;
    std::vector<double> q, multipliers, commands;
    const std::size_t inputs = n > 0 ? path.samples.front().size() : 0;
    read_path(file, [&](const Hdf5File& f) {
      status = f.read_ints("/status", {n});
      factorisations = f.read_ints("/factorisations", {n});
      if (with_q) q = f.read_doubles("/q", {n, static_cast<std::size_t>(nv)});
      multipliers = f.read_doubles("/multipliers", {n, static_cast<std::size_t>(rows)});
      commands = f.read_doubles("/commands", {n, inputs});
      return 0;
    });
    for (std::size_t i = 0; i < n; ++i) {
      set.factorisations += factorisations[i];
      if (status[i] != 0) {
        ++set.failed;
        ++set.failures[static_cast<StepStatus>(status[i])];
        continue;
      }
      ++set.count;
      set.source.push_back({static_cast<int>(k), static_cast<int>(i), path.friction, path.in_time});
      set.commands.emplace_back(commands.begin() + static_cast<long>(i * inputs),
                                commands.begin() + static_cast<long>((i + 1) * inputs));
      if (set.commands.back() != path.samples[i]) {
        set.out_of_reach.push_back(path.samples[i]);
        set.source.back().replaced = true;
        set.least_reach = std::min(set.least_reach, share_of(set.commands.back(), path.samples[i]));
      }
      if (with_q)
        set.q.insert(set.q.end(), q.begin() + static_cast<long>(i) * nv, q.begin() + static_cast<long>(i + 1) * nv);
      set.multipliers.insert(set.multipliers.end(), multipliers.begin() + static_cast<long>(i) * rows,
                             multipliers.begin() + static_cast<long>(i + 1) * rows);
    }
  }
  return set;
}

}  // namespace supple
