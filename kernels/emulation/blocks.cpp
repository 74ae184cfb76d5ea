// Blocks of a kernel, one after the other. Threads that may meet at a barrier are fibers: each runs until the barrier or
// its end, then the next one. A fiber begins by setcontext; after that _longjmp changes stacks, which unlike swapcontext
// asks nothing of the kernel.

#include <cuda_runtime.h>
#include <cxxabi.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "kernels/emulation/emulated_device.hpp"

supple::emulation::Index3 threadIdx, blockIdx, blockDim, gridDim;

namespace supple::emulation {
namespace {

constexpr std::size_t stack_bytes = 256 * 1024, guard_bytes = 4096;
constexpr unsigned most_threads = 1024;  // of a block, CUDA's own limit

enum class State { ready, waiting, done };

struct Fiber {
  ucontext_t context{};  // of its beginning
  jmp_buf point;         // where it continues
  bool begun = false;
  State state = State::done;
};

struct Fibers {
  jmp_buf scheduler;
  std::vector<std::unique_ptr<Fiber>> all;
  Fiber* current = nullptr;
  const std::function<void()>* body = nullptr;
};
Fibers fibers;

// The present fiber waits with that state until the scheduler returns to it.
void leave(State state) {
  Fiber& self = *fibers.current;
  self.state = state;
  if (_setjmp(self.point) == 0) _longjmp(fibers.scheduler, 1);
}

// Runs a fiber until it leaves.
void enter(Fiber& next) {
  fibers.current = &next;
  if (_setjmp(fibers.scheduler) != 0) return;
  if (next.begun) _longjmp(next.point, 1);
  next.begun = true;
  setcontext(&next.context);
}

void live() {
  while (true) {
    (*fibers.body)();
    leave(State::done);
  }
}

Fiber& fiber(unsigned thread) {
  while (fibers.all.size() <= thread) {
    auto made = std::make_unique<Fiber>();
    void* stack = mmap(nullptr, stack_bytes + guard_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED || mprotect(stack, guard_bytes, PROT_NONE) != 0) stop("no memory for a thread's stack");
    getcontext(&made->context);
    made->context.uc_stack.ss_sp = static_cast<char*>(stack) + guard_bytes;
    made->context.uc_stack.ss_size = stack_bytes;
    makecontext(&made->context, live, 0);
    fibers.all.push_back(std::move(made));
  }
  return *fibers.all[thread];
}

void run_together(Device& device, unsigned block, const std::function<void()>& body) {
  fibers.body = &body;
  for (unsigned t = 0; t < block; ++t) fiber(t).state = State::ready;
  static std::vector<unsigned> order;
  while (true) {
    device.order(order, block);
    for (const unsigned t : order) {
      threadIdx.x = t;
      enter(*fibers.all[t]);
    }
    if (device.traffic.counts()) device.traffic.end_phase();
    unsigned done = 0;
    for (unsigned t = 0; t < block; ++t) done += fibers.all[t]->state == State::done;
    if (done == block) break;
    if (done > 0)
      stop(device.running() + ": " + std::to_string(block - done) + " threads of block " + std::to_string(blockIdx.x) +
           " wait at a barrier that " + std::to_string(done) + " have left");
    for (unsigned t = 0; t < block; ++t) fibers.all[t]->state = State::ready;
  }
  fibers.current = nullptr;
}

// Host memory is no part of an op: its address would be followed on the device.
void look_for_host_addresses(const Device& device, const std::string& name, const Argument& argument) {
  const auto* bytes = static_cast<const std::byte*>(argument.data);
  for (std::size_t at = 0; at + sizeof(std::uintptr_t) <= argument.bytes; at += sizeof(std::uintptr_t)) {
    std::uintptr_t word;
    std::memcpy(&word, bytes + at, sizeof word);
    // Arrays are aligned; two small integers beside each other seldom look so.
    if (word < 65536 || word >> 47 != 0 || word % 8 != 0) continue;
    const void* address = reinterpret_cast<const void*>(word);
    unsigned char present;
    if (device.memory.holds(address) || device.is_pinned(address, 1)) continue;
    if (mincore(reinterpret_cast<void*>(word & ~std::uintptr_t{4095}), 1, &present) == 0)
      stop(name + ": word " + std::to_string(at / sizeof word) + " of an argument is an address of host memory");
  }
}

}  // namespace

void wait_for_block() {
  if (fibers.current == nullptr) stop(Device::instance().running() + ": a barrier in a kernel that has none");
  leave(State::waiting);
}

void run_blocks(Device& device, bool together, unsigned grid, unsigned block, const std::function<void()>& body) {
  static std::vector<unsigned> blocks, threads;
  gridDim = {grid, 1, 1};
  blockDim = {block, 1, 1};
  device.order(blocks, grid);
  if (device.traffic.counts()) device.traffic.begin_kernel(device.running(), grid);
  for (const unsigned b : blocks) {
    blockIdx.x = b;
    if (together) {
      run_together(device, block, body);
      continue;
    }
    device.order(threads, block);
    for (const unsigned t : threads) {
      threadIdx.x = t;
      body();
    }
    if (device.traffic.counts()) device.traffic.end_phase();
  }
  if (device.traffic.counts()) device.traffic.end_kernel();
}

void queue_kernel(const std::type_info& kernel, Threads threads, unsigned grid, unsigned block,
                  std::initializer_list<Argument> arguments, std::function<void()> body) {
  Call call;
  Device& device = call.device;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> plain(abi::__cxa_demangle(kernel.name(), nullptr, nullptr, &status),
                                                          &std::free);
  std::string name = plain ? plain.get() : kernel.name();
  if (grid == 0 || block == 0 || block > most_threads || grid > 0x7fffffffu) stop(name + ": no such grid");
  for (const Argument& argument : arguments) look_for_host_addresses(device, name, argument);
  device.queue({std::move(name), [&device, threads, grid, block, body = std::move(body)] {
                  run_blocks(device, threads == Threads::together, grid, block, body);
                }});
}

}  // namespace supple::emulation
