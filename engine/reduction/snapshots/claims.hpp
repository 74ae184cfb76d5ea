#pragma once
// Who computes what in a folder that several processes work in, on one machine or many: locks on single bytes of its
// file `claims`, which holds nothing. A lock ends with its process, however that ends, so no claim outlives its owner
// and nothing has to be cleaned up. Claims only save work: the bits of a path do not depend on who computes it, and it
// appears whole, so that two that compute the same one do no harm.

#include <string>

namespace supple {

// One per process and folder; each object is an owner of its own. Byte 0: the plan, byte 1: shared by all at work,
// byte 2 + k: path k.
class Claims {
 public:
  // Opens `folder`/claims, creating it in a folder that is there. Throws InputError if it cannot.
  explicit Claims(const std::string& folder);
  ~Claims();
  Claims(Claims&& other) noexcept;
  Claims& operator=(Claims&&) = delete;

  // Whether the file system has locks. Where it has none every claim below is granted.
  bool available() const { return available_; }
  // False: another owner has it.
  bool claim(int path);
  void release(int path);
  // False: another owner writes the plan.
  bool claim_plan();
  void release_plan();
  // From now on this owner is at work; false: another is alone.
  bool enter();
  // From now on, until it enters or ends, this owner is the only one; false: another is at work.
  bool alone();

 private:
  bool lock(long byte, short kind);

  int file_ = -1;
  bool available_ = true;
};

}  // namespace supple
