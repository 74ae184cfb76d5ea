#pragma once
// What kernels move on the emulated GPU, counted: SUPPLE_EMULATION=traffic:FILE in a program whose device code reports
// every load and store (supple_counted, kernels/emulation/counted/). The table, one row a kernel, is written when the
// program ends. Columns:
//   kernel, launches, blocks
//   instructions       loads and stores of warps (32 threads that do the same one, the k-th time they come to it)
//   sectors            32 bytes of device memory each: what the instructions ask the caches for
//   read, written      bytes of device memory, a sector counted once a launch: what a launch moves if the caches hold
//                      all that it uses, and keep nothing for the next
//   shared             accesses to the memory that a block's threads share, in turns of 32 banks
//   conflicts          of these turns, those that threads with different words of one bank cost
// Libraries' calls and copies are rows too, with the bytes of their operands. Registers, arguments and what a thread has
// for itself are not counted.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace supple::emulation {

struct TrafficRow {
  std::uint64_t launches = 0, blocks = 0, instructions = 0, sectors = 0, read = 0, written = 0, shared = 0,
                conflicts = 0;
};

// Set by device code that reports what it does (counted/hooks.cpp).
extern bool traffic_is_reported;

class Traffic {
 public:
  // file: empty: nothing is counted. Written at the end of the program.
  explicit Traffic(std::string file);
  bool counts() const { return !file_.empty(); }

  void begin_kernel(const std::string& name, unsigned grid);
  // All threads of the block have come to a barrier or their end: what they did meanwhile goes together.
  void end_phase();
  void end_kernel();
  // Of a thread, from the instruction at `place`. shared: the memory that a block shares; else device memory.
  void access(unsigned thread, const void* place, const void* address, std::size_t bytes, bool writes, bool shared);
  // A library's call, or a copy.
  void operands(const std::string& name, std::size_t read, std::size_t written);
  void write() const;
  const std::map<std::string, TrafficRow>& rows() const { return rows_; }

 private:
  struct Access {
    std::uintptr_t address;
    unsigned lane, bytes;
    bool writes, shared;
  };
  void count(const std::vector<Access>& together);

  std::string file_;
  std::map<std::string, TrafficRow> rows_;
  TrafficRow* row_ = nullptr;
  std::unordered_map<std::uintptr_t, unsigned char> sectors_;  // of this launch: 1 read, 2 written
  // Per thread, how often it came to each place in this phase; and what came together: place, occurrence, warp.
  std::vector<std::unordered_map<std::uintptr_t, std::uint32_t>> visits_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<Access>> together_;
};

}  // namespace supple::emulation
