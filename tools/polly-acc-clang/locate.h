/* locate.h: where the plugin, the runtime, clang and CUDA are. */
#ifndef PACC_WRAPPER_LOCATE_H
#define PACC_WRAPPER_LOCATE_H

/* All paths are absolute and in fresh memory.
 * programs  the folder of the wrapper and of pacc-cpu-link
 * library   the folder that holds PollyACC.so and libpacc_rt, found from the
 *           wrapper's own place so that an installation can be moved
 * plugin    PollyACC.so in it
 * include   the folder with pacc/runtime.h; NULL if it was not installed
 */
struct pacc_places {
  char *programs;
  char *library;
  char *plugin;
  char *include;
};

/* Ends the program with a message if there is no plugin. */
struct pacc_places pacc_places_find(void);

enum pacc_driver { PACC_CLANG, PACC_CLANGXX, PACC_FLANG };

/* The compiler that goes with the name by which the wrapper was called:
 * clang++ with one that ends in ++, flang with one that ends in flang. */
enum pacc_driver pacc_driver_of(const char *name);

/* The driver's program: $PACC_CLANG ($PACC_FLANG for flang), or that of the
 * LLVM that the plugin was built for, or clang-22 in PATH. Ends the program
 * with a message if there is none, or if it is of another release than the
 * plugin. */
const char *pacc_driver_find(enum pacc_driver driver);

/* The version of the CUDA toolkit ("13.0"), and its folder in *path; NULL if
 * there is no toolkit. Warns of variables that name none. */
const char *pacc_cuda_version(const char **path);

#endif
