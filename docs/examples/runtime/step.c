/* A reduced model stepped from C: batch, commands, tips.
 *
 *   supple export finger.rom.h5 --format runtime -o finger.supple
 *   cc step.c -lsupple_runtime -o step && ./step finger.supple */

#include <stdio.h>
#include <supple.h>

static int fail(void) {
  fprintf(stderr, "%s\n", supple_error());
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 2 || supple_abi_version() != SUPPLE_ABI_VERSION) return 2;
  supple_model* model = supple_model_load(argv[1]);
  if (!model) return fail();
  printf("%s, tip error %.2g %%\n", supple_name(model, SUPPLE_ACTUATORS, 0), 100 * supple_model_error(model));

  supple_settings settings = supple_default_settings();
  settings.robots = 4;
  supple_simulation* robots = supple_simulation_new(model, &settings);
  supple_model_free(model);
  if (!robots) return fail();

  size_t shape[4];
  double* commands = supple_get_array(robots, SUPPLE_COMMANDS, shape); /* [robots, actuators] */
  for (size_t b = 0; b < shape[0]; ++b) commands[b * shape[1]] = 0.002 * (double)b; /* m */
  if (supple_step(robots, 100) != SUPPLE_OK) return fail();

  const double* tips = supple_get_array(robots, SUPPLE_EFFECTOR_VALUES, shape); /* [robots, effectors, 3] */
  for (size_t b = 0; b < shape[0]; ++b) {
    const double* tip = tips + b * shape[1] * 3;
    printf("after %.2f s robot %zu is at (%.2f, %.2f, %.2f) mm\n", supple_time(robots), b, 1e3 * tip[0], 1e3 * tip[1],
           1e3 * tip[2]);
  }
  supple_simulation_free(robots);
  return 0;
}
