/* cuda.h: the flags that CUDA sources, and objects with device code, need. */
#ifndef PACC_WRAPPER_CUDA_H
#define PACC_WRAPPER_CUDA_H

#include "arguments.h"
#include "classify.h"

/* Whether the command compiles CUDA or links objects with device code. */
bool pacc_cuda_is_used(const struct pacc_command *command);

/* In front of the user's arguments, so that the user's win: the toolkit, the
 * architecture, relocatable device code. Ends the program with a message if
 * there is no toolkit. */
void pacc_cuda_add_front(struct pacc_arguments *to,
                         const struct pacc_arguments *user,
                         const struct pacc_command *command);

/* Behind the user's arguments if the command links: CUDA's libraries, for the
 * device and for the host. */
void pacc_cuda_add_libraries(struct pacc_arguments *to,
                             const struct pacc_arguments *user,
                             const struct pacc_command *command);

#endif
