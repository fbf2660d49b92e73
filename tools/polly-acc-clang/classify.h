/* classify.h: what a clang command line is about to do. */
#ifndef PACC_WRAPPER_CLASSIFY_H
#define PACC_WRAPPER_CLASSIFY_H

#include "arguments.h"
#include "locate.h"

/* driver      the program that runs
 * compiles    some input is C, C++, CUDA, LLVM IR or flang's Fortran and goes
 *             through the optimiser
 * compiles_host  and that is not CUDA
 * cuda        some input is CUDA
 * assembles   clang's assembler is run by itself, for an input that is
 *             assembler text or with -save-temps; it refuses plugin options
 * includes    some input may include headers
 * optimises   there is an -O, and the last one is not -O0
 * asks        the user gave options of the plugin, or wants remarks
 * links       the linker is run
 * is_static   -static or -static-pie: libraries are archives, and an rpath
 *             would be refused by the C library's start-up
 * use_archive --static-pacc-rt was given: link the runtime's archive
 * objects     the files that go to the linker as they are
 * print_cmd   --print-cmd was given
 * version     --version was given
 */
struct pacc_command {
  enum pacc_driver driver;
  bool compiles;
  bool compiles_host;
  bool cuda;
  bool assembles;
  bool includes;
  bool optimises;
  bool asks;
  bool links;
  bool is_static;
  bool use_archive;
  bool print_cmd;
  bool version;
  struct pacc_arguments objects;
};

/* Reads the driver's arguments (without argv[0], response files expanded).
 * Clang leaves Fortran to other programs. */
struct pacc_command pacc_command_classify(const struct pacc_arguments *list,
                                          enum pacc_driver driver);

/* Whether `text` is an option of the wrapper itself, which clang is not to
 * see. */
bool pacc_is_wrapper_option(const char *text);

/* Whether `text` is an option of the plugin, which clang wants after -mllvm. */
bool pacc_is_plugin_option(const char *text);

/* Whether clang reads the next argument as the value of `text`. */
bool pacc_takes_value(const char *text);

#endif
