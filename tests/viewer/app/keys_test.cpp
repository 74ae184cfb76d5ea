// The table of keys: no key twice, and docs/reference/viewer.md says what it says.

#include "viewer/app/keys.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

namespace supple::view {
namespace {

TEST(Keys, EachDoesOneThing) {
  std::set<std::pair<int, bool>> keys;
  std::set<Action> actions;
  for (const Shortcut& shortcut : shortcuts()) {
    EXPECT_TRUE(keys.insert({static_cast<int>(shortcut.key), shortcut.ctrl}).second) << shortcut.name;
    EXPECT_TRUE(actions.insert(shortcut.action).second) << shortcut.name;
    EXPECT_EQ(action_of(static_cast<int>(shortcut.key), shortcut.ctrl), shortcut.action);
  }
  EXPECT_EQ(action_of(static_cast<int>(Key::q), false), Action::none);
}

TEST(Keys, ReferenceIsCurrent) {
  const std::string text =
      "# Keys and pointer of the viewer\n\nGenerated from the table behind F1; a test compares.\n\n" + keys_reference();
  const std::string file = SUPPLE_SOURCE_DIR "/docs/reference/viewer.md";
  // To renew it: SUPPLE_WRITE_REFERENCE=1 test_viewer_app --gtest_filter=Keys.ReferenceIsCurrent
  if (std::getenv("SUPPLE_WRITE_REFERENCE") != nullptr) std::ofstream(file) << text;
  std::ostringstream now;
  now << std::ifstream(file).rdbuf();
  EXPECT_TRUE(now.str() == text) << file << " is not what F1 says";
}

}  // namespace
}  // namespace supple::view
