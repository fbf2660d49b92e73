/* place.c: where variables live. Global variables move into the arena; their
 * initial values stay behind as symbols. Their addresses are fixed now, or when
 * the program starts (relocate.c). */
#include "retarget_private.h"

#include "status.h"

#include <llvm-c/Comdat.h>

#include <stdio.h>

enum { SHARED_SPACE = 3 };

static unsigned space_of(LLVMValueRef global) {
  return LLVMGetPointerAddressSpace(LLVMTypeOf(global));
}

static uint32_t align_of(struct pacc_retarget *r, LLVMValueRef global) {
  uint32_t given = LLVMGetAlignment(global);
  uint32_t least =
      LLVMABIAlignmentOfType(r->layout, LLVMGlobalGetValueType(global));
  return given > least ? given : least;
}

static int is_zero(LLVMValueRef value) {
  return LLVMIsNull(value) || LLVMIsUndef(value);
}

/* Keeps the initial value as a symbol of the compiled module. */
static int keep_image(struct pacc_retarget *r, LLVMValueRef global,
                      struct pacc_cpu_variable *variable) {
  char symbol[48];
  int n = snprintf(symbol, sizeof(symbol), "__pacc_image.%zu",
                   r->program->n_variables);
  if (!(variable->image = strdup(symbol)))
    return PACC_CPU_ERROR_OUT_OF_MEMORY;
  LLVMSetValueName2(global, symbol, (size_t)n);
  LLVMSetLinkage(global, LLVMExternalLinkage);
  LLVMSetVisibility(global, r->options->place ? LLVMDefaultVisibility
                                              : LLVMHiddenVisibility);
  LLVMSetUnnamedAddress(global, LLVMNoUnnamedAddr);
  LLVMSetExternallyInitialized(global, 0);
  LLVMSetComdat(global, NULL);
  LLVMSetSection(global, "");
  return 0;
}

static int place_variable(struct pacc_retarget *r, LLVMValueRef global) {
  struct pacc_cpu_variable *variable =
      pacc_cpu_program_add_variable(r->program);
  if (!variable || !(variable->name = strdup(pacc_name(global))))
    return pacc_cpu_fail(PACC_CPU_ERROR_OUT_OF_MEMORY,
                         "no memory for a variable");
  uint64_t size = LLVMABISizeOfType(r->layout, LLVMGlobalGetValueType(global));
  variable->size = size ? size : 1;
  variable->align = align_of(r, global);
  if (!r->options->place)
    return keep_image(r, global, variable);
  int status =
      r->options->place(r->options->context, variable->name, variable->size,
                        variable->align, &variable->address);
  if (status)
    return status;
  LLVMValueRef address = LLVMConstInt(r->i64, variable->address, 0);
  LLVMReplaceAllUsesWith(global,
                         LLVMConstIntToPtr(address, LLVMTypeOf(global)));
  if (!is_zero(LLVMGetInitializer(global)))
    return keep_image(r, global, variable);
  LLVMDeleteGlobal(global);
  return 0;
}

int pacc_retarget_variables(struct pacc_retarget *r) {
  LLVMValueRef next;
  for (LLVMValueRef g = LLVMGetFirstGlobal(r->module); g; g = next) {
    next = LLVMGetNextGlobal(g);
    if (space_of(g) == SHARED_SPACE || pacc_starts_with(pacc_name(g), "llvm."))
      continue;
    if (LLVMIsDeclaration(g)) {
      if (!LLVMGetFirstUse(g))
        continue;
      if (LLVMGetLinkage(g) == LLVMExternalWeakLinkage) {
        /* As linkers do. Clang's `threadIdx` is one, whose address code that
         * is not optimised passes on. */
        LLVMReplaceAllUsesWith(g, LLVMConstNull(LLVMTypeOf(g)));
        continue;
      }
      return pacc_cpu_fail(PACC_CPU_ERROR_INVALID_IMAGE,
                           "the bitcode uses the variable '%s' and does not "
                           "define it",
                           pacc_name(g));
    }
    int status = place_variable(r, g);
    if (status)
      return status;
  }
  return r->options->place ? 0 : pacc_retarget_relocations(r);
}
