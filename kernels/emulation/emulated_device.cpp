#include "kernels/emulation/emulated_device.hpp"

#include <cxxabi.h>
#include <execinfo.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>

namespace supple::emulation {
namespace {

constexpr std::size_t page = 4096, arena_bytes = std::size_t{1} << 40;
constexpr std::size_t alignment = 16;      // of the largest type that device code loads at once
constexpr unsigned char untouched = 0xff;  // NaN in every width

std::size_t rounded(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

// A page that is closed was touched: by queued work, for the first time, or beyond its memory, or freed memory; by the
// host, at all.
void on_fault(int, siginfo_t* info, void*) {
  Device& device = Device::instance();
  const bool ours = device.memory.holds(info->si_addr);
  const bool by_work = device.worker == pthread_self();
  if (ours && by_work && device.memory.open(info->si_addr)) return;
  if (!ours && !by_work) {  // an error of the program: as without an emulated GPU
    signal(SIGSEGV, SIG_DFL);
    return;
  }
  std::string line = "emulated GPU: ";
  if (by_work)
    line += device.running() + " touches " + (ours ? device.memory.describe(info->si_addr) : "memory that is not its");
  else
    line += "the host touches " + device.memory.describe(info->si_addr);
  line += "\n";
  (void)!write(STDERR_FILENO, line.data(), line.size());
  void* frames[32];
  backtrace_symbols_fd(frames, backtrace(frames, 32), STDERR_FILENO);
  signal(SIGSEGV, SIG_DFL);
  abort();
}

}  // namespace

void stop(const std::string& what) {
  std::fprintf(stderr, "emulated GPU: %s\n", what.c_str());
  std::abort();
}

Mode parse_mode(const std::string& words) {
  Mode mode;
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t end = std::min(words.find(',', at), words.size());
    const std::string word = words.substr(at, end - at);
    at = end + 1;
    const auto number = [&](const char* name) -> unsigned long long {
      const std::string digits = word.substr(std::string(name).size());
      if (digits.empty() || digits.size() > 9 || digits.find_first_not_of("0123456789") != std::string::npos)
        stop("SUPPLE_EMULATION: '" + word + "' needs a number");
      return std::stoull(digits);
    };
    if (word == "now" || word == "late")
      mode.late = word == "late";
    else if (word == "front" || word == "back")
      mode.guard_before = word == "front";
    else if (word == "up")
      mode.order = Mode::Order::up;
    else if (word == "down")
      mode.order = Mode::Order::down;
    else if (word.starts_with("random:"))
      mode.order = Mode::Order::random, mode.seed = number("random:");
    else if (word.starts_with("memory:"))
      mode.memory = static_cast<std::size_t>(number("memory:")) << 20;
    else if (word.starts_with("traffic:") && word.size() > 8)
      mode.traffic = word.substr(8);
    else
      stop("SUPPLE_EMULATION: '" + word +
           "' is none of now, late, up, down, random:N, back, front, memory:MB, traffic:FILE");
  }
  return mode;
}

DeviceMemory::DeviceMemory(const Mode& mode) : total_(mode.memory), guard_before_(mode.guard_before) {
  void* arena = mmap(nullptr, arena_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (arena == MAP_FAILED) stop("no address space for device memory");
  arena_ = static_cast<std::byte*>(arena);
}

bool DeviceMemory::holds(const void* address) const {
  const auto* at = static_cast<const std::byte*>(address);
  return at >= arena_ && at < arena_ + arena_bytes;
}

void* DeviceMemory::allocate(std::size_t bytes) {
  const std::size_t pages = rounded(bytes, page);
  if (bytes > total_ || pages > free() || next_ + pages + 2 * page > arena_bytes) return nullptr;
  std::byte* first = arena_ + next_ + page;
  next_ += pages + page;
  if (mprotect(first, pages, PROT_READ | PROT_WRITE) != 0) return nullptr;
  std::memset(first, untouched, pages);
  std::byte* data = guard_before_ ? first : first + (pages - rounded(bytes, alignment));
  mprotect(first, pages, PROT_NONE);
  used_ += pages;
  pieces_[data] = {data, first, pages, bytes, ++count_};
  opened_.reserve(2 * pieces_.size());
  return data;
}

void DeviceMemory::look_at_slack(const Piece& piece) const {
  const std::byte* data = piece.data;
  for (const std::byte* at = data; at-- > piece.pages;)
    if (static_cast<unsigned char>(*at) != untouched)
      stop("something wrote " + std::to_string(data - at) + " bytes before memory " + std::to_string(piece.number) +
           " of " + std::to_string(piece.bytes) + " bytes");
  for (const std::byte* at = data + piece.bytes; at < piece.pages + piece.page_bytes; ++at)
    if (static_cast<unsigned char>(*at) != untouched)
      stop("something wrote " + std::to_string(at - data - static_cast<std::ptrdiff_t>(piece.bytes)) +
           " bytes behind memory " + std::to_string(piece.number) + " of " + std::to_string(piece.bytes) + " bytes");
}

void DeviceMemory::release(void* data) {
  const auto at = pieces_.find(static_cast<std::byte*>(data));
  if (at == pieces_.end()) stop("cudaFree of " + describe(data));
  const Piece piece = at->second;
  mprotect(piece.pages, piece.page_bytes, PROT_READ);
  look_at_slack(piece);
  // Gives the pages back and closes the addresses for ever.
  if (mmap(piece.pages, piece.page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) ==
      MAP_FAILED)
    stop("pages cannot be given back");
  used_ -= piece.page_bytes;
  pieces_.erase(at);
}

bool DeviceMemory::open(const void* address) {
  const auto* at = static_cast<const std::byte*>(address);
  // The last piece whose data begin at or before the address, or the next one, in front of whose data there is slack.
  auto found = pieces_.upper_bound(at);
  if (found == pieces_.end() || at < found->second.pages) {
    if (found == pieces_.begin()) return false;
    --found;
  }
  const Piece& piece = found->second;
  if (at < piece.pages || at >= piece.pages + piece.page_bytes) return false;
  opened_.push_back(&piece);
  return mprotect(piece.pages, piece.page_bytes, PROT_READ | PROT_WRITE) == 0;
}

void DeviceMemory::close() {
  for (const Piece* piece : opened_) look_at_slack(*piece);
  for (const Piece* piece : opened_) mprotect(piece->pages, piece->page_bytes, PROT_NONE);
  opened_.clear();
}

void DeviceMemory::need(const void* data, std::size_t bytes, const std::string& what) const {
  const auto* at = static_cast<const std::byte*>(data);
  auto piece = pieces_.upper_bound(at);
  if (piece != pieces_.begin()) {
    --piece;
    if (at + bytes <= piece->first + piece->second.bytes) return;
  }
  stop(what + ": " + std::to_string(bytes) + " bytes at " + describe(data) + " are not in one piece of device memory");
}

std::string DeviceMemory::describe(const void* address) const {
  if (!holds(address)) return "an address that is not on the device";
  const auto* at = static_cast<const std::byte*>(address);
  auto piece = pieces_.upper_bound(at);
  if (piece == pieces_.begin()) return "device memory that is freed or was never reserved";
  --piece;
  const std::ptrdiff_t offset = at - piece->first, size = static_cast<std::ptrdiff_t>(piece->second.bytes);
  const std::string name =
      "memory " + std::to_string(piece->second.number) + " (" + std::to_string(piece->second.bytes) + " bytes)";
  return offset < size ? "byte " + std::to_string(offset) + " of device " + name
                       : "device memory that is freed, or " + std::to_string(offset - size) + " bytes behind " + name;
}

namespace {
Mode chosen_mode() {
  const char* words = std::getenv("SUPPLE_EMULATION");
  return parse_mode(words == nullptr ? "" : words);
}
}  // namespace

Device::Device()
    : mode(chosen_mode()), memory(mode), traffic(mode.traffic), random_(mode.seed * 0x9e3779b97f4a7c15u + 1) {
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGSEGV, &action, nullptr);
  if (traffic.counts() && (!traffic_is_reported || mode.late))
    stop("SUPPLE_EMULATION: traffic: is for supple_counted, whose device code reports it, and for work that runs now");
  if (traffic.counts()) std::atexit([] { instance().traffic.write(); });
}

// Never destroyed: arrays of static duration may outlive it otherwise.
Device& Device::instance() {
  static Device& device = *new Device;
  return device;
}

std::uint64_t Device::queue(Work work) {
  if (capturing != nullptr) {
    captured.push_back(std::move(work));
    return queued_;
  }
  waiting_.push_back(std::move(work));
  ++queued_;
  if (!mode.late) run_all();
  return queued_;
}

void Device::run_until(std::uint64_t number) {
  if (finished_ >= number) return;
  worker = pthread_self();
  while (finished_ < number) {
    const Work work = std::move(waiting_.front());
    waiting_.pop_front();
    running_ = work.name;
    work.run();
    if (traffic.counts() && work.read + work.written > 0) traffic.operands(work.name, work.read, work.written);
    running_.clear();
    ++finished_;
  }
  worker = pthread_t{};
  memory.close();
}

bool Device::is_pinned(const void* data, std::size_t bytes) const {
  const auto* at = static_cast<const std::byte*>(data);
  auto piece = pinned.upper_bound(at);
  if (piece == pinned.begin()) return false;
  --piece;
  return at + bytes <= piece->first + piece->second;
}

void Device::order(std::vector<unsigned>& list, unsigned count) {
  list.resize(count);
  std::iota(list.begin(), list.end(), 0u);
  if (mode.order == Mode::Order::down) std::reverse(list.begin(), list.end());
  if (mode.order != Mode::Order::random) return;
  for (unsigned i = count; i > 1; --i) {
    random_ ^= random_ >> 12;
    random_ ^= random_ << 25;
    random_ ^= random_ >> 27;  // xorshift64*
    std::swap(list[i - 1], list[(random_ * 0x2545f4914f6cdd1du >> 32) * i >> 32]);
  }
}

}  // namespace supple::emulation
