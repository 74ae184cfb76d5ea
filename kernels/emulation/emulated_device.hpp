#pragma once
// The emulated GPU: memory that only queued work may touch, a queue that runs as early or as late as CUDA allows, and
// blocks whose threads run in a chosen order. It finds missing barriers, buffers that are used too early, overruns and
// accesses from the wrong side; it cannot show races between blocks, which run one after the other, what nvcc makes of
// the code, nor any speed. How to use it: docs/howto/emulated-gpu.md.
//
// SUPPLE_EMULATION = words separated by commas, the first of each line by default:
//   now | late              queued work runs at once | when the host waits for it
//   up | down | random:N    order of blocks and of the threads of a block; N: seed
//   back | front            the guard page lies behind | before each piece of device memory
//   memory:MB               of the device (4096)
//   traffic:FILE            what kernels move is counted (traffic.hpp); with `now` alone, and device code that reports it
// An error stops the program (abort) with one line that states where it is.

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "kernels/emulation/traffic.hpp"

namespace supple::emulation {

// Prints the line and aborts.
[[noreturn]] void stop(const std::string& what);

struct Mode {
  bool late = false, guard_before = false;
  enum class Order { up, down, random } order = Order::up;
  std::uint64_t seed = 0;
  std::size_t memory = std::size_t{4096} << 20;
  std::string traffic;  // file, or empty
};
// Stops on a word that is not understood.
Mode parse_mode(const std::string& words);

// Device memory in pages of its own. A piece is opened when queued work first touches it and closed before the host
// continues; an address is never given twice, so that freed memory stays closed.
class DeviceMemory {
 public:
  explicit DeviceMemory(const Mode& mode);
  // Null: no room. Filled with NaN.
  void* allocate(std::size_t bytes);
  void release(void* data);
  // From the fault handler: whether the address lies in the pages of a live piece, which are open then.
  bool open(const void* address);
  // All that is open. Stops where something was written beside the data.
  void close();
  bool holds(const void* address) const;
  // Stops unless [data, data + bytes) lies in one live piece.
  void need(const void* data, std::size_t bytes, const std::string& what) const;
  std::size_t free() const { return total_ - used_; }
  std::size_t total() const { return total_; }
  std::string describe(const void* address) const;

 private:
  struct Piece {
    std::byte *data, *pages;
    std::size_t page_bytes, bytes;
    int number;
  };
  // Stops where something was written between the data and the ends of the pages.
  void look_at_slack(const Piece& piece) const;
  std::byte* arena_ = nullptr;
  std::size_t next_ = 0, used_ = 0, total_;
  bool guard_before_;
  int count_ = 0;
  std::map<const std::byte*, Piece> pieces_;
  std::vector<const Piece*> opened_;  // with room for all, so that the handler reserves nothing
};

struct Work {
  std::string name;
  std::function<void()> run;
  std::size_t read = 0, written = 0;  // bytes of device memory, where no kernel is run
};

class Device {
 public:
  static Device& instance();
  std::recursive_mutex mutex;  // of every call of the API
  const Mode mode;
  std::atomic<pthread_t> worker{};  // the thread that runs queued work
  DeviceMemory memory;
  Traffic traffic;
  std::map<const std::byte*, std::size_t> pinned;
  const void* capturing = nullptr;  // the stream whose work is recorded
  std::vector<Work> captured;

  // The number of the work in the queue. Runs it, and all before it, unless work is to run late.
  std::uint64_t queue(Work work);
  void run_until(std::uint64_t number);
  void run_all() { run_until(queued_); }
  std::uint64_t queued() const { return queued_; }
  std::uint64_t finished() const { return finished_; }
  const std::string& running() const { return running_; }
  bool is_pinned(const void* data, std::size_t bytes) const;
  // 0 ... count - 1 in the order of the mode; random: another at each call.
  void order(std::vector<unsigned>& list, unsigned count);

 private:
  Device();
  std::deque<Work> waiting_;
  std::uint64_t queued_ = 0, finished_ = 0, random_;
  std::string running_;
};

// A call of the API: the device, locked.
struct Call {
  Device& device = Device::instance();
  std::lock_guard<std::recursive_mutex> lock{device.mutex};
};

// Runs the blocks of a kernel.
void run_blocks(Device& device, bool together, unsigned grid, unsigned block, const std::function<void()>& body);

}  // namespace supple::emulation
