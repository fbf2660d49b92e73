/* fdtd-2d.c: an electric field (ex, ey) and a magnetic one (hz) in two
 * dimensions by the finite-difference time-domain method; _fict_ is the source.
 */
#include <polybench.h>

#include "fdtd-2d.h"

static void init_array(int tmax, int nx, int ny,
                       DATA_TYPE POLYBENCH_2D(ex, NX, NY, nx, ny),
                       DATA_TYPE POLYBENCH_2D(ey, NX, NY, nx, ny),
                       DATA_TYPE POLYBENCH_2D(hz, NX, NY, nx, ny),
                       DATA_TYPE POLYBENCH_1D(_fict_, TMAX, tmax)) {
  for (int i = 0; i < tmax; i++)
    _fict_[i] = (DATA_TYPE)i;
  for (int i = 0; i < nx; i++)
    for (int j = 0; j < ny; j++) {
      ex[i][j] = ((DATA_TYPE)i * (j + 1)) / nx;
      ey[i][j] = ((DATA_TYPE)i * (j + 2)) / ny;
      hz[i][j] = ((DATA_TYPE)i * (j + 3)) / nx;
    }
}

static void print_array(int nx, int ny,
                        DATA_TYPE POLYBENCH_2D(ex, NX, NY, nx, ny),
                        DATA_TYPE POLYBENCH_2D(ey, NX, NY, nx, ny),
                        DATA_TYPE POLYBENCH_2D(hz, NX, NY, nx, ny)) {
  POLYBENCH_DUMP_START;

  POLYBENCH_DUMP_BEGIN("ex");
  for (int i = 0; i < nx; i++)
    for (int j = 0; j < ny; j++)
      POLYBENCH_DUMP_VALUE(i * nx + j, ex[i][j]);
  POLYBENCH_DUMP_END("ex");
  POLYBENCH_DUMP_FINISH; // Here, as the original has it.

  POLYBENCH_DUMP_BEGIN("ey");
  for (int i = 0; i < nx; i++)
    for (int j = 0; j < ny; j++)
      POLYBENCH_DUMP_VALUE(i * nx + j, ey[i][j]);
  POLYBENCH_DUMP_END("ey");

  POLYBENCH_DUMP_BEGIN("hz");
  for (int i = 0; i < nx; i++)
    for (int j = 0; j < ny; j++)
      POLYBENCH_DUMP_VALUE(i * nx + j, hz[i][j]);
  POLYBENCH_DUMP_END("hz");
}

static void kernel_fdtd_2d(int tmax, int nx, int ny,
                           DATA_TYPE POLYBENCH_2D(ex, NX, NY, nx, ny),
                           DATA_TYPE POLYBENCH_2D(ey, NX, NY, nx, ny),
                           DATA_TYPE POLYBENCH_2D(hz, NX, NY, nx, ny),
                           DATA_TYPE POLYBENCH_1D(_fict_, TMAX, tmax)) {
#ifdef POLYBENCH_KERNEL_FILE
#include POLYBENCH_KERNEL_FILE
#else
#pragma scop
  for (int t = 0; t < _PB_TMAX; t++) {
    for (int j = 0; j < _PB_NY; j++)
      ey[0][j] = _fict_[t];
    for (int i = 1; i < _PB_NX; i++)
      for (int j = 0; j < _PB_NY; j++)
        ey[i][j] = ey[i][j] - SCALAR_VAL(0.5) * (hz[i][j] - hz[i - 1][j]);
    for (int i = 0; i < _PB_NX; i++)
      for (int j = 1; j < _PB_NY; j++)
        ex[i][j] = ex[i][j] - SCALAR_VAL(0.5) * (hz[i][j] - hz[i][j - 1]);
    for (int i = 0; i < _PB_NX - 1; i++)
      for (int j = 0; j < _PB_NY - 1; j++)
        hz[i][j] = hz[i][j] - SCALAR_VAL(0.7) * (ex[i][j + 1] - ex[i][j] +
                                                 ey[i + 1][j] - ey[i][j]);
  }
#pragma endscop
#endif
}

int main(int argc, char **argv) {
  int tmax = TMAX;
  int nx = NX;
  int ny = NY;
  POLYBENCH_2D_ARRAY_DECL(ex, DATA_TYPE, NX, NY, nx, ny);
  POLYBENCH_2D_ARRAY_DECL(ey, DATA_TYPE, NX, NY, nx, ny);
  POLYBENCH_2D_ARRAY_DECL(hz, DATA_TYPE, NX, NY, nx, ny);
  POLYBENCH_1D_ARRAY_DECL(_fict_, DATA_TYPE, TMAX, tmax);

  polybench_each_run {
    init_array(tmax, nx, ny, POLYBENCH_ARRAY(ex), POLYBENCH_ARRAY(ey),
               POLYBENCH_ARRAY(hz), POLYBENCH_ARRAY(_fict_));
    polybench_start_instruments;
    kernel_fdtd_2d(tmax, nx, ny, POLYBENCH_ARRAY(ex), POLYBENCH_ARRAY(ey),
                   POLYBENCH_ARRAY(hz), POLYBENCH_ARRAY(_fict_));
    polybench_stop_instruments;
    polybench_print_instruments;
  }
  polybench_prevent_dce(print_array(nx, ny, POLYBENCH_ARRAY(ex),
                                    POLYBENCH_ARRAY(ey), POLYBENCH_ARRAY(hz)));

  POLYBENCH_FREE_ARRAY(ex);
  POLYBENCH_FREE_ARRAY(ey);
  POLYBENCH_FREE_ARRAY(hz);
  POLYBENCH_FREE_ARRAY(_fict_);
  return 0;
}
