/* openmp.h: what the kernels of this folder share. A file NAME.h is the body of
 * kernel_NAME(), whose parameters it uses: the loops with OpenMP's directives
 * for devices, as a programmer would set them by hand. Arrays stay on the
 * device for the whole kernel; every result has a thread of its own.
 */
#ifndef PEERS_OPENMP_H
#define PEERS_OPENMP_H

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

/* Without a device the loops would run on the host, and their time would be
 * taken for the device's; PEERS_OPENMP_HOST is for tests. */
static inline void omp_need_device(void) {
#ifndef PEERS_OPENMP_HOST
  int on_host = 1;
#pragma omp target map(from : on_host)
  on_host = omp_is_initial_device();
  if (on_host) {
    fprintf(stderr, "OpenMP: no device\n");
    exit(1);
  }
#endif
}

#define OMP_TEXT(...) _Pragma(#__VA_ARGS__)
/* The next loop, or the next two, perfectly nested, are the threads. */
#define OMP_LOOP OMP_TEXT(omp target teams distribute parallel for)
#define OMP_LOOPS OMP_TEXT(omp target teams distribute parallel for collapse(2))
/* Arrays of the next block: copied to the device, from it, or only made there.
 */
#define OMP_DATA(...)                                                          \
  omp_need_device();                                                           \
  OMP_TEXT(omp target data __VA_ARGS__)

#endif
