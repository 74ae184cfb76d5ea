/* The runtime of Supple in C: reduced models that step, forward and inversely, also in contact.
 *
 * A model is one file of `supple export --format runtime`. A simulation is a batch of robots of a model: every array
 * begins with the robot index, also of one robot. All numbers are SI and double precision.
 *
 * Functions that can fail return a negative number or a null pointer; supple_error() then describes the last failure of
 * the calling thread. No exception crosses this interface. Steps allocate no memory after the first few. A simulation is
 * for one thread at a time; several run in several threads. */

#ifndef SUPPLE_H
#define SUPPLE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SUPPLE_ABI_VERSION 1
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

typedef struct supple_model supple_model;
typedef struct supple_simulation supple_simulation;

/* Of the library that is linked; equal to SUPPLE_ABI_VERSION of this header, or they do not fit. */
int supple_abi_version(void);
/* "0.1.0" */
const char* supple_version(void);
/* What is wrong and what to try, of the last call of this thread that failed; "" before that. */
const char* supple_error(void);

/* Codes of failures. */
enum {
  SUPPLE_OK = 0,
  SUPPLE_RUN_FAILED = -1,   /* no robot is left that could take the step */
  SUPPLE_BAD_INPUT = -2,    /* a file, an argument or a number in an array */
  SUPPLE_NOT_SUPPORTED = -3 /* by this robot or this build */
};

/* A model from a file, or from memory, which is not needed afterwards. Null: supple_error(). */
supple_model* supple_model_load(const char* path);
supple_model* supple_model_read(const void* bytes, size_t size);
/* The model may be freed before its simulations. Null is allowed. */
void supple_model_free(supple_model* model);

/* What a model has, and how many of each. */
enum {
  SUPPLE_ACTUATORS,
  SUPPLE_MOTIONS,
  SUPPLE_EFFECTORS,
  SUPPLE_OBSTACLES,
  SUPPLE_PROBES,
  SUPPLE_SENSORS /* numbers of sensors: "imu acceleration x" */
};
int supple_count(const supple_model* model, int kind);
/* The name of the i-th one; null if there is none. Valid as long as the model. */
const char* supple_name(const supple_model* model, int kind, int i);
/* Mean error of the end effectors on the test set as a fraction of their mean displacement; negative: not known. */
double supple_model_error(const supple_model* model);

typedef enum {
  SUPPLE_IMPLICIT_EULER,
  SUPPLE_IMPLICIT_EULER_NEWTON,
  SUPPLE_QUASI_STATIC,
  SUPPLE_INTEGRATOR_OF_MODEL
} supple_integrator;

typedef struct {
  size_t size;                  /* sizeof(supple_settings), by which later versions know what is there */
  int robots;                   /* 1 or more */
  int inverse;                  /* 0: steps under commands; 1: towards goals */
  supple_integrator integrator; /* of supple_default_settings(): the model's */
  double time_step;             /* s; 0: the model's */
} supple_settings;
supple_settings supple_default_settings(void);

/* At rest under zero commands. settings: null for the default. Null: supple_error(). */
supple_simulation* supple_simulation_new(const supple_model* model, const supple_settings* settings);
void supple_simulation_free(supple_simulation* simulation);

/* So many steps, fewer if no robot is left. SUPPLE_OK, or a code above. A robot of a batch that fails stays as it was
 * until it is reset; one that is alone is tried again by the next call. */
int supple_step(supple_simulation* simulation, long count);
/* Brings all robots to equilibrium under their commands. */
int supple_settle(supple_simulation* simulation);
/* Puts robots back to rest: `count` indices, or with null all of them, whose time is 0 again. */
int supple_reset(supple_simulation* simulation, const int* robots, int count);
/* Takes over the states of another simulation of the same model and number of robots, as from one under commands to one
 * towards goals. Commands and goals stay as they are. */
int supple_copy_state(supple_simulation* simulation, supple_simulation* from);
/* s */
double supple_time(supple_simulation* simulation);
double supple_time_step(const supple_simulation* simulation);
/* How many robots have failed; mask: [robots], 1 for each that has, or null. */
int supple_failed(const supple_simulation* simulation, unsigned char* mask);
/* Of all bits of the state, as `supple run` prints it. */
uint64_t supple_hash(supple_simulation* simulation);

/* Whether an effector has a goal, in all robots of an inverse simulation; at first all have one. */
int supple_steer(supple_simulation* simulation, int effector, int steered);

/* Arrays: B robots, shapes as given, row-major. They stay in place as long as the simulation. Those to be set are read by
 * the next step; the others are of the last one. SUPPLE_EFFECTOR_VALUES, SUPPLE_POINTS, SUPPLE_GOAL_ERRORS
 * and SUPPLE_SENSOR_READINGS are computed by the call. */
typedef enum {
  SUPPLE_COMMANDS,         /* set  [B, actuators]: m, m^3, N or Pa */
  SUPPLE_MOTION_COMMANDS,  /* set  [B, motions]: m */
  SUPPLE_GOALS,            /* set  [B, effectors, 3]: positions [m], rotation vectors [rad], lengths, volumes; inverse */
  SUPPLE_KNOWN,            /* set  [B, actuators]: commands that are given, NaN: found; inverse */
  SUPPLE_Q,                /* read [B, coordinates] */
  SUPPLE_V,                /* read [B, coordinates] */
  SUPPLE_FORCES,           /* read [B, rows]: of actuators, then constraints: N or Pa */
  SUPPLE_APPLIED,          /* read [B, actuators]: commands that were applied or found */
  SUPPLE_CONTACT_FORCES,   /* read [B, collision points, obstacles, 3]: N */
  SUPPLE_EFFECTOR_VALUES,  /* read [B, effectors, 3]: as goals */
  SUPPLE_POINTS,           /* read [B, points, 3]: mapped points, m */
  SUPPLE_GOAL_ERRORS,      /* read [B, effectors]: distance to the goal along the effector's directions, m; inverse */
  SUPPLE_SENSOR_READINGS   /* read [B, numbers of sensors]: in SI, with noise of a fixed seed, bias and delay */
} supple_array;
/* The array and its shape (4 extents, 1 beyond its rank; or null). Null: it does not exist here, see supple_error(); an
 * array without numbers is not null. */
double* supple_get_array(supple_simulation* simulation, supple_array which, size_t shape[4]);

/* The skin, for drawing: numbers of nodes and triangles, corners [triangles, 3], positions of a robot's nodes
 * [nodes, 3, m] written to `nodes`. */
int supple_skin_size(supple_simulation* simulation, int* nodes, int* triangles);
int supple_skin_triangles(supple_simulation* simulation, int* corners);
int supple_skin_nodes(supple_simulation* simulation, int robot, double* nodes);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
