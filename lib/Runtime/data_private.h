/* data_private.h: memory that the program keeps its hands off (pacc_data_begin
 * in pacc/runtime.h).
 */
#ifndef PACC_DATA_PRIVATE_H
#define PACC_DATA_PRIVATE_H

#include "run_private.h"

/* Is there any such memory now? */
bool pacc_data_exists(void);

/* Gives an array its place if it lies in such memory; if only a part of it
 * does, the run fails. False: it lies elsewhere. */
bool pacc_data_place(struct pacc_run *run, struct pacc_array *array);

/* Notes a copy of an array in it. */
void pacc_data_want(struct pacc_data *data, const struct pacc_run *run,
                    uint32_t direction);

/* Before kernels run: brings to the device what it lacks, and keeps what they
 * may overwrite. */
void pacc_data_prepare(struct pacc_run *run);

/* The run has been waited for; ok: what its kernels wrote counts. */
void pacc_data_end_run(struct pacc_run *run, bool ok);

/* Before original loops: brings all data back, and to the device again for the
 * next region. */
void pacc_data_to_host(void);

#endif
