// Claims on paths of a folder: exclusive, and gone with their owner.

#include "engine/reduction/snapshots/claims.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/base/error.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple {
namespace {

class ClaimsOfAFolder : public testing::Test {
 protected:
  std::string folder() const { return folder_ / "."; }
  reduced_bodies::TemporaryFolder folder_;
};

TEST_F(ClaimsOfAFolder, AreExclusive) {
  Claims first(folder());
  {
    Claims second(folder());
    EXPECT_TRUE(first.available());
    EXPECT_TRUE(first.claim(3));
    EXPECT_TRUE(second.claim(2));
    EXPECT_FALSE(second.claim(3));
    EXPECT_FALSE(first.claim(2));
    EXPECT_TRUE(first.claim_plan());
    EXPECT_FALSE(second.claim_plan());
    first.release_plan();
    EXPECT_TRUE(second.claim_plan());
    first.release(3);
    EXPECT_TRUE(second.claim(3));
    EXPECT_TRUE(second.available());
  }
  EXPECT_TRUE(first.claim(3));  // the second is gone
  EXPECT_TRUE(first.claim(2));
  EXPECT_TRUE(first.claim_plan());
}

TEST_F(ClaimsOfAFolder, SeveralAreAtWorkOrOneIsAlone) {
  Claims first(folder()), second(folder()), third(folder());
  EXPECT_TRUE(third.alone());
  EXPECT_FALSE(first.enter());
  EXPECT_FALSE(second.alone());
  EXPECT_TRUE(third.enter());  // no longer alone
  EXPECT_TRUE(first.enter());
  EXPECT_FALSE(third.alone());
}

TEST_F(ClaimsOfAFolder, AreGoneWithAKilledProcess) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Claims claims(folder());
    const char told = claims.claim(0) && claims.enter() ? 'y' : 'n';
    if (write(ready[1], &told, 1) != 1) _exit(1);
    while (true) pause();
  }
  char told = 0;
  ASSERT_EQ(read(ready[0], &told, 1), 1);
  EXPECT_EQ(told, 'y');
  Claims claims(folder());
  EXPECT_FALSE(claims.claim(0));
  EXPECT_FALSE(claims.alone());
  kill(child, SIGKILL);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(claims.claim(0));
  EXPECT_TRUE(claims.alone());
  close(ready[0]);
  close(ready[1]);
}

TEST_F(ClaimsOfAFolder, NeedAFolder) {
  EXPECT_THROW(Claims(folder_ / "nowhere"), InputError);
}

}  // namespace
}  // namespace supple
