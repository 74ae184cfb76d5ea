// Pages for browsers: what scripts/web.sh --test opens is made here.

#include "engine/io/web_page.hpp"

#include <gtest/gtest.h>

#include "kernels/base/error.hpp"
#include "tests/engine/bodies/reduced_bodies.hpp"

namespace supple {
namespace {

TEST(WebPage, HoldsTheRobotOrSaysWhatTheBuildLacks) {
  const FullModel full = build_full_model(reduced_bodies::bar_scene({"corotational", MaterialModel::corotational}),
                                          reduced_bodies::bar(false));
  const int n = full.coordinates.nv;
  const ReducedModel model = project(full, reduced_bodies::full_basis(n), n, reduced_bodies::some_elements(full));
  try {
    const std::string page = web_page(model, R"({"name": "</script><!--<script> bar"})");
    EXPECT_TRUE(page.starts_with("<!doctype html>"));
    EXPECT_EQ(page.find("@SUPPLE_"), std::string::npos);
    EXPECT_NE(page.find(R"({"name": "\u003c/script>\u003c!--\u003cscript> bar"})"), std::string::npos);
  } catch (const CapabilityError& error) {
    EXPECT_NE(error.suggestion().find("scripts/web.sh"), std::string::npos);
  }
}

}  // namespace
}  // namespace supple
