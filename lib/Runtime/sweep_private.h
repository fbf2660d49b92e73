/* sweep_private.h: times of kernels under every thread block shape
 * (PACC_SWEEP=file.csv), from inside one run of the program.
 *
 * Kernels must have been compiled for any block (-polly-acc-block-size=sweep).
 * Before a launch goes its usual way, it is made with every candidate shape;
 * the run's arrays are restored before each shape and at last, so that the
 * program's results stay what they were. Launches of a kernel that resemble
 * one that was swept are only counted.
 */
#ifndef PACC_SWEEP_PRIVATE_H
#define PACC_SWEEP_PRIVATE_H

#include <stdint.h>

struct pacc_run;

/* Sweeps a launch of kernel number `number` with n[d] > 0 threads along
 * dimension d if PACC_SWEEP is set and nothing like it was swept before. A
 * failure of the device is the run's. */
void pacc_sweep_launch(struct pacc_run *run, uint32_t number,
                       const int64_t n[3], void **params);

/* Writes the file once more, with the final counts of launches. Does not wait
 * for a thread that is sweeping. */
void pacc_sweep_close(void);

#endif
