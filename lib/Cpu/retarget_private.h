/* retarget_private.h: what the parts of retargeting share. */
#ifndef PACC_CPU_RETARGET_PRIVATE_H
#define PACC_CPU_RETARGET_PRIVATE_H

#include "retarget.h"

#include <llvm-c/Target.h>

#include <string.h>

struct pacc_retarget {
  LLVMModuleRef module;
  LLVMContextRef context;
  LLVMBuilderRef builder;
  LLVMTargetDataRef layout;
  const struct pacc_retarget_options *options;
  struct pacc_cpu_program *program;
  LLVMTypeRef i1, i8, i16, i32, i64, f32, f64, ptr, nothing;
  uint32_t n_sites;
};

#define PACC_EACH_FUNCTION(f, module)                                          \
  for (LLVMValueRef f = LLVMGetFirstFunction(module), f##_next;                \
       f && (f##_next = LLVMGetNextFunction(f), 1); f = f##_next)
#define PACC_EACH_BLOCK(b, function)                                           \
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b;              \
       b = LLVMGetNextBasicBlock(b))
/* The body may delete or replace `i`. */
#define PACC_EACH_INSTRUCTION(i, block)                                        \
  for (LLVMValueRef i = LLVMGetFirstInstruction(block), i##_next;              \
       i && (i##_next = LLVMGetNextInstruction(i), 1); i = i##_next)

static inline const char *pacc_name(LLVMValueRef value) {
  size_t length;
  return LLVMGetValueName2(value, &length);
}

static inline int pacc_starts_with(const char *text, const char *prefix) {
  return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* -- entry.c -- */

/* Makes an entry for every kernel, which calls the kernel in a loop over
 * threads, and describes it in the program. */
int pacc_retarget_entries(struct pacc_retarget *r);

/* The ids as values of a function: i32, and the shared memory as pointers. */
enum pacc_id {
  PACC_ID_THREAD = 0, /* + 0..2 for x, y, z */
  PACC_ID_BLOCK = 3,
  PACC_ID_BLOCK_DIM = 6,
  PACC_ID_GRID_DIM = 9,
  PACC_ID_SHARED = 12,
  PACC_ID_DYNAMIC,
  PACC_N_IDS,
};
struct pacc_ids {
  LLVMValueRef values[PACC_N_IDS];
};
/* Makes all of them, where they dominate every use: in an entry from its loop,
 * in other functions by loads at the start. */
struct pacc_ids pacc_retarget_ids(struct pacc_retarget *r,
                                  LLVMValueRef function);
/* The first instruction of a function behind its allocas. */
LLVMValueRef pacc_first_instruction(LLVMValueRef function);

/* -- reflect.c -- */

/* Answers __nvvm_reflect, splits fused multiply-adds and forbids to fuse. */
void pacc_retarget_reflect(struct pacc_retarget *r);

/* -- lower.c, assembly.c, ptx.c -- */

/* Replaces the calls that the host can't make. */
void pacc_retarget_lower(struct pacc_retarget *r);
void pacc_lower_assembly(struct pacc_retarget *r, LLVMValueRef call,
                         LLVMValueRef callee);
/* ptx.c: replaces inline assembly that is one instruction on memory; `text` is
 * without white space. 0 if it is something else. */
int pacc_lower_ptx(struct pacc_retarget *r, LLVMValueRef call,
                   const char *text);
/* Replaces a call by a value (NULL: it has none). */
void pacc_lower_to_value(LLVMValueRef call, LLVMValueRef value);
/* Replaces a call by one of a device function with the same arguments. 0 if
 * there is none of that name and type. */
int pacc_lower_to_devfn(struct pacc_retarget *r, LLVMValueRef call,
                        const char *devfn);
/* The same with these arguments. */
int pacc_lower_with(struct pacc_retarget *r, LLVMValueRef call,
                    const char *devfn, LLVMValueRef *arguments, unsigned n);
/* Replaces a call by one that ends the launch: there is no version of `what`.
 */
void pacc_lower_to_error(struct pacc_retarget *r, LLVMValueRef call,
                         const char *what);
/* The declaration of a device function in the module, NULL if there is none of
 * that name. */
LLVMValueRef pacc_retarget_devfn(struct pacc_retarget *r, const char *name);

/* -- extrema.c -- */

/* Makes comparisons of the minima and maxima that lower.c leaves. */
void pacc_retarget_extrema(struct pacc_retarget *r);

/* -- callgraph.c -- */

/* Sets may_suspend of each kernel: a fixpoint over the call graph. */
int pacc_retarget_suspension(struct pacc_retarget *r);
/* The defined functions that run when `function` does, itself first: *n of
 * them, to be freed. NULL with a detail if memory is out. */
LLVMValueRef *pacc_retarget_reached(struct pacc_retarget *r,
                                    LLVMValueRef function, size_t *n);

/* -- math.c -- */

/* The host's counterpart of a libdevice function that the module declares, as
 * a declaration in the module; NULL if there is none. */
LLVMValueRef pacc_retarget_math(struct pacc_retarget *r, LLVMValueRef callee);

/* -- place.c -- */

/* Gives variables their places and makes their initial values symbols. */
int pacc_retarget_variables(struct pacc_retarget *r);
/* Replaces shared variables by offsets from the block's shared memory and
 * sets the sizes in the program. */
int pacc_retarget_shared(struct pacc_retarget *r);

/* -- expand.c -- */

/* Globals to replace in functions.
 * is_wanted  whether a global variable is one of them
 * begin      called once before the first use in a function, may be NULL
 * address    the value that stands for the global, built where the builder is
 */
struct pacc_expansion {
  int (*is_wanted)(LLVMValueRef global);
  void (*begin)(void *context, LLVMValueRef function);
  LLVMValueRef (*address)(void *context, LLVMValueRef global);
  void *context;
};
int pacc_expand_uses(struct pacc_retarget *r,
                     const struct pacc_expansion *expansion);
/* Calls `visit` (if any) for each wanted global that a value refers to as a
 * constant. Returns how many there are. */
unsigned pacc_visit_globals(LLVMValueRef value, int (*is_wanted)(LLVMValueRef),
                            void (*visit)(void *context, LLVMValueRef global),
                            void *context);

/* -- relocate.c -- */

/* Makes the address of each variable, which place.c has named, a value that is
 * set when the program starts; notes the addresses within initial values. */
int pacc_retarget_relocations(struct pacc_retarget *r);

/* -- check.c -- */

/* Inserts a check before every access of the optimised module. */
void pacc_retarget_checks(struct pacc_retarget *r);

#endif
