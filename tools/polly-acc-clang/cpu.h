/* cpu.h: --device=cpu: CUDA programs whose kernels run on the CPU device. */
#ifndef PACC_WRAPPER_CPU_H
#define PACC_WRAPPER_CPU_H

#include "arguments.h"
#include "classify.h"
#include "locate.h"

/* Whether `--device=cpu` is among the arguments. Another device than that, or
 * cuda, ends the program with a message. */
bool pacc_cpu_is_asked(const struct pacc_arguments *arguments);

/* Runs, or prints, the commands that the arguments stand for: compilations of
 * CUDA sources to objects with bitcode, the compilation of that for the host
 * (pacc-cpu-link), and the link with libpacc_cudart. Returns an exit status. */
int pacc_cpu_run(const struct pacc_arguments *arguments,
                 const struct pacc_command *command,
                 const struct pacc_places *places, const char *clang);

#endif
