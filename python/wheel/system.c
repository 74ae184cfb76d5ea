/* What Debian's static libraries expect of a program and a shared object does not have.
 *
 * stdin, stdout, stderr: the libraries are compiled for programs (PIE), which copy these from the C library. The linker
 * is told to use the ones here instead (--wrap).
 * arc4random_buf: of glibc 2.36, which expat salts its hash tables with; without it the module loads from glibc 2.35 on.
 * SCOTCH: orderings that MUMPS has calls of and is never asked for here (ICNTL(7) is set in mumps_direct.cpp). */

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

extern FILE *__real_stdin, *__real_stdout, *__real_stderr;
FILE *__wrap_stdin, *__wrap_stdout, *__wrap_stderr;

__attribute__((constructor(101))) static void open_streams(void) {
  __wrap_stdin = __real_stdin;
  __wrap_stdout = __real_stdout;
  __wrap_stderr = __real_stderr;
}

void arc4random_buf(void* bytes, size_t count) {
  if (getrandom(bytes, count, 0) != (ssize_t)count) abort();
}

#define NEVER_CALLED(name) \
  void name(void) { abort(); }
NEVER_CALLED(SCOTCH_graphBuild)
NEVER_CALLED(SCOTCH_graphExit)
NEVER_CALLED(SCOTCH_graphInit)
NEVER_CALLED(SCOTCH_graphOrder)
NEVER_CALLED(SCOTCH_stratExit)
NEVER_CALLED(SCOTCH_stratInit)
NEVER_CALLED(scotchfgraphbuild_)
NEVER_CALLED(scotchfgraphexit_)
NEVER_CALLED(scotchfgraphpart_)
NEVER_CALLED(scotchfstratexit_)
NEVER_CALLED(scotchfstratinit_)
NEVER_CALLED(esmumps)
NEVER_CALLED(esmumpsv)
