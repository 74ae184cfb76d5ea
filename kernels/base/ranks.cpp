#include "kernels/base/ranks.hpp"

#include <exception>

namespace supple {

void together(const Ranks& ranks, const std::function<void()>& work) {
  if (ranks.size == 1) return work();
  std::exception_ptr error;
  try {
    work();
  } catch (...) {
    error = std::current_exception();
  }
  const int failed = ranks.agree(error != nullptr);
  if (error) std::rethrow_exception(error);
  if (failed >= 0) throw RankFailed(failed);
}

// Along a binomial tree: in round k the ranks below 2^k send to those 2^k above them.
void broadcast(const Ranks& ranks, std::vector<double>& values) {
  for (int reach = 1; reach < ranks.size; reach *= 2) {
    if (ranks.rank < reach && ranks.rank + reach < ranks.size) ranks.send(ranks.rank + reach, values);
    if (ranks.rank >= reach && ranks.rank < 2 * reach) values = ranks.receive(ranks.rank - reach);
  }
}

}  // namespace supple
