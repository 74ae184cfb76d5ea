/* OpenMP with one thread: the entry points of libgomp that GCC's code calls, so that the objects of the engine run, bit for
 * bit, in a library without OpenMP. Signatures: libgomp/libgomp_g.h of GCC. A loop's whole range is its first chunk. */

#include <stdbool.h>

void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned flags) {
  (void)threads;
  (void)flags;
  body(data);
}

bool GOMP_loop_nonmonotonic_dynamic_start(long start, long end, long step, long chunk, long* first, long* last) {
  (void)chunk;
  *first = start;
  *last = end;
  return step > 0 ? start < end : start > end;
}
bool GOMP_loop_nonmonotonic_dynamic_next(long* first, long* last) {
  (void)first;
  (void)last;
  return false;
}
bool GOMP_loop_ull_nonmonotonic_dynamic_start(bool up, unsigned long long start, unsigned long long end,
                                              unsigned long long step, unsigned long long chunk,
                                              unsigned long long* first, unsigned long long* last) {
  (void)step;
  (void)chunk;
  *first = start;
  *last = end;
  return up ? start < end : start > end;
}
bool GOMP_loop_ull_nonmonotonic_dynamic_next(unsigned long long* first, unsigned long long* last) {
  (void)first;
  (void)last;
  return false;
}
void GOMP_loop_end(void) {}
void GOMP_loop_end_nowait(void) {}
void GOMP_critical_name_start(void** name) {
  (void)name;
}
void GOMP_critical_name_end(void** name) {
  (void)name;
}

int omp_get_max_threads(void) {
  return 1;
}
int omp_get_num_threads(void) {
  return 1;
}
int omp_get_thread_num(void) {
  return 0;
}
void omp_set_num_threads(int threads) {
  (void)threads;
}
