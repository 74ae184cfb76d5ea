// A step of a reduced model takes no memory from the heap: operator new is counted while it runs.

#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/engine/bodies/strain_bodies.hpp"

// Sanitizers bring their own operator new.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SUPPLE_COUNTS_ALLOCATIONS 0
#else
#define SUPPLE_COUNTS_ALLOCATIONS 1
#endif

namespace {
std::atomic<long> allocations{0};
}  // namespace

#if SUPPLE_COUNTS_ALLOCATIONS
// GCC pairs the replaced operators with the library's in its warning.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void* operator new(std::size_t size) {
  ++allocations;
  if (void* p = std::malloc(size > 0 ? size : 1)) return p;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  ++allocations;
  const auto a = static_cast<std::size_t>(alignment);
  if (void* p = std::aligned_alloc(a, (size + a) / a * a)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept {
  std::free(p);
}
void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}
void operator delete(void* p, std::align_val_t) noexcept {
  std::free(p);
}
void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  std::free(p);
}
#endif

namespace supple {
namespace {

class ReducedStep : public testing::TestWithParam<std::tuple<int, StepScheme>> {};

void expect_no_allocations(const ReducedModel& model, int robots, StepScheme scheme, const std::string& what) {
  ReducedMechanics mechanics(model, robots);
  Stepper stepper(mechanics, {.scheme = scheme, .time_step = 0.01});
  State state = rest_state(mechanics);
  Control control = zero_control(mechanics);
  // The first steps may still grow something (the thread pool, copied vectors).
  for (int k = 0; k < 13; ++k) {
    for (std::size_t i = 0; i < control.commands.size(); ++i) control.commands[i] = (i % 3 == 2 ? 1e-4 : 2e-4) * k;
    const long before = allocations;
    const StepReport report = stepper.step(control, state);
    const long used = allocations - before;
    ASSERT_EQ(report.status, StepStatus::ok) << describe(report.status);
    if (k < 3) continue;
    ASSERT_EQ(used, 0) << what << ", step " << k;
  }
}

TEST_P(ReducedStep, AllocatesNothing) {
  if (!SUPPLE_COUNTS_ALLOCATIONS) GTEST_SKIP() << "a sanitizer owns operator new";
  const auto [robots, scheme] = GetParam();
  for (const boxes::Law& law : boxes::exact_laws()) {
    const FullModel full = build_full_model(reduced_bodies::bar_scene(law), reduced_bodies::bar(false));
    const ReducedModel model =
        project(full, reduced_bodies::random_basis(full.coordinates.nv, 9), 9, reduced_bodies::some_elements(full));
    expect_no_allocations(model, robots, scheme, law.name);
  }
  const FullModel covered = build_full_model(strain_bodies::covered(), reduced_bodies::bar(false));
  const ReducedModel model = strain_bodies::with_strains(
      covered, reduced_bodies::random_basis(covered.coordinates.nv, 9), 9, strain_bodies::random_strains(covered, 5));
  expect_no_allocations(model, robots, scheme, "strain modes");
}

INSTANTIATE_TEST_SUITE_P(Schemes, ReducedStep,
                         testing::Combine(testing::Values(1, 3),
                                          testing::Values(StepScheme::one_linearisation, StepScheme::newton,
                                                          StepScheme::quasi_static)));

}  // namespace
}  // namespace supple
