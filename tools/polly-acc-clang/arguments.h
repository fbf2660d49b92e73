/* arguments.h: a growing list of command line arguments, response files, and
 * quoting for a POSIX shell. */
#ifndef PACC_WRAPPER_ARGUMENTS_H
#define PACC_WRAPPER_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* items[count] is NULL, so that items can be given to execv. The strings live
 * until the program ends: the wrapper replaces itself by the compiler. */
struct pacc_arguments {
  const char **items;
  size_t count;
  size_t capacity;
};

/* Appends one argument. Out of memory ends the program. */
void pacc_arguments_add(struct pacc_arguments *list, const char *text);

/* Appends all of `more`. */
void pacc_arguments_add_all(struct pacc_arguments *list,
                            const struct pacc_arguments *more);

/* Appends a new string made as printf makes it, and returns it. */
__attribute__((format(printf, 2, 3))) const char *
pacc_arguments_format(struct pacc_arguments *list, const char *format, ...);

/* Appends the arguments in the response file `path`, and those of the response
 * files named in it, split as clang splits them (white space; '...', "..." and
 * backslash quote). False, and nothing appended, if it can't be read: clang
 * then takes @path as a file's name. */
bool pacc_arguments_add_response(struct pacc_arguments *list, const char *path);

/* Writes the list to `out` as one line for a shell. */
void pacc_arguments_print(const struct pacc_arguments *list, FILE *out);

/* printf into fresh memory. Out of memory ends the program. */
__attribute__((format(printf, 1, 2))) char *pacc_format(const char *format,
                                                        ...);

/* Prints "polly-acc-clang: warning: ...". */
__attribute__((format(printf, 1, 2))) void pacc_warn(const char *format, ...);

/* Prints "polly-acc-clang: error: ..." and ends the program with status 1. */
__attribute__((format(printf, 1, 2), noreturn)) void
pacc_fail(const char *format, ...);

#endif
