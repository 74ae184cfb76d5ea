/* Steps a model and counts what is allocated, by malloc and its like of the whole process, after the first steps.
 *
 *   count_allocations MODEL INVERSE ROBOTS STEPS    prints the number of allocations; exit code 0: none, 1: some */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <supple.h>

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* memory, size_t size);
static long allocations;

void* malloc(size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* memory, size_t size) {
  ++allocations;
  return __libc_realloc(memory, size);
}

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  supple_model* model = supple_model_load(argv[1]);
  supple_settings settings = supple_default_settings();
  settings.inverse = atoi(argv[2]);
  settings.robots = atoi(argv[3]);
  const int steps = atoi(argv[4]);
  supple_simulation* simulation = model ? supple_simulation_new(model, &settings) : NULL;
  if (!simulation) {
    fprintf(stderr, "%s\n", supple_error());
    return 2;
  }
  size_t shape[4];
  double* set = supple_get_array(simulation, settings.inverse ? SUPPLE_GOALS : SUPPLE_COMMANDS, shape);
  const size_t count = shape[0] * shape[1] * shape[2];
  double start = set[count - 1];
  for (int k = 0; k < steps; ++k) {
    if (k == steps / 2) allocations = 0;
    /* The same way twice: what grows with the number of contacts has grown. */
    set[count - 1] = start + 0.002 * sin(4 * 3.14159265358979 * k / steps);
    if (supple_step(simulation, 1) != SUPPLE_OK) {
      fprintf(stderr, "%s\n", supple_error());
      return 2;
    }
    (void)supple_get_array(simulation, SUPPLE_EFFECTOR_VALUES, NULL);
  }
  const long found = allocations;
  printf("%ld\n", found); /* which allocates */
  return found != 0;
}
