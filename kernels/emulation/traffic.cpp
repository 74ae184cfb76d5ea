#include "kernels/emulation/traffic.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <utility>

namespace supple::emulation {

namespace {

constexpr unsigned warp = 32, banks = 32, word_bytes = 4, sector_bytes = 32, widest_bytes = 16;

}  // namespace

bool traffic_is_reported = false;

Traffic::Traffic(std::string file) : file_(std::move(file)) {}

void Traffic::begin_kernel(const std::string& name, unsigned grid) {
  row_ = &rows_[name];
  ++row_->launches;
  row_->blocks += grid;
  sectors_.clear();
}

void Traffic::access(unsigned thread, const void* place, const void* address, std::size_t bytes, bool writes,
                     bool shared) {
  if (row_ == nullptr) return;
  if (thread >= visits_.size()) visits_.resize(thread + 1);
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  // The widest instruction moves 16 bytes.
  for (std::size_t done = 0; done < bytes; done += widest_bytes) {
    const std::uint32_t visit = visits_[thread][reinterpret_cast<std::uintptr_t>(place)]++;
    together_[{reinterpret_cast<std::uintptr_t>(place), std::uint64_t{visit} << 32 | thread / warp}].push_back(
        {at + done, thread % warp, static_cast<unsigned>(std::min<std::size_t>(bytes - done, widest_bytes)), writes,
         shared});
  }
}

// One instruction of a warp.
void Traffic::count(const std::vector<Access>& together) {
  ++row_->instructions;
  if (!together.front().shared) {
    std::set<std::uintptr_t> sectors;
    for (const Access& access : together)
      for (std::uintptr_t s = access.address / sector_bytes; s <= (access.address + access.bytes - 1) / sector_bytes;
           ++s) {
        sectors.insert(s);
        sectors_[s] |= access.writes ? 2 : 1;
      }
    row_->sectors += sectors.size();
    return;
  }
  // Threads go in turns that ask for 128 bytes: a whole warp of words, half of one of doubles, a quarter of pairs of them.
  const unsigned threads = warp / std::max(1u, together.front().bytes / word_bytes);
  for (unsigned first = 0; first < warp; first += threads) {
    std::array<std::set<std::uintptr_t>, banks> words;
    bool any = false;
    for (const Access& access : together) {
      if (access.lane < first || access.lane >= first + threads) continue;
      any = true;
      for (std::uintptr_t w = access.address / word_bytes; w <= (access.address + access.bytes - 1) / word_bytes; ++w)
        words[w % banks].insert(w);
    }
    if (!any) continue;
    std::size_t turns = 1;
    for (const auto& own : words) turns = std::max(turns, own.size());
    row_->shared += turns;
    row_->conflicts += turns - 1;
  }
}

void Traffic::end_phase() {
  if (row_ == nullptr) return;
  for (const auto& [place, accesses] : together_) count(accesses);
  together_.clear();
  for (auto& visits : visits_) visits.clear();
}

void Traffic::end_kernel() {
  end_phase();
  for (const auto& [sector, how] : sectors_) {
    row_->read += (how & 1) != 0 ? sector_bytes : 0;
    row_->written += (how & 2) != 0 ? sector_bytes : 0;
  }
  row_ = nullptr;
}

void Traffic::operands(const std::string& name, std::size_t read, std::size_t written) {
  TrafficRow& row = rows_[name];
  ++row.launches;
  row.read += read;
  row.written += written;
}

void Traffic::write() const {
  std::FILE* file = std::fopen(file_.c_str(), "w");
  const auto fail = [this] {
    std::fprintf(stderr, "emulated GPU: cannot write '%s'\n", file_.c_str());
    _exit(1);  // called when the program ends
  };
  if (file == nullptr) fail();
  std::fputs("kernel,launches,blocks,instructions,sectors,read,written,shared,conflicts\n", file);
  for (const auto& [name, row] : rows_)
    std::fprintf(file, "\"%s\",%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu\n", name.c_str(),
                 static_cast<unsigned long long>(row.launches), static_cast<unsigned long long>(row.blocks),
                 static_cast<unsigned long long>(row.instructions), static_cast<unsigned long long>(row.sectors),
                 static_cast<unsigned long long>(row.read), static_cast<unsigned long long>(row.written),
                 static_cast<unsigned long long>(row.shared), static_cast<unsigned long long>(row.conflicts));
  if (std::ferror(file) != 0 || std::fclose(file) != 0) fail();
}

}  // namespace supple::emulation
