/* callgraph.c: what kernels call: which threads may wait for others, and which
 * functions a kernel reaches. */
#include "retarget_private.h"

#include "devfn.h"
#include "status.h"

#include <stdlib.h>

/* Functions found so far. */
struct marked {
  LLVMValueRef *functions;
  size_t n;
};

static int is_marked(const struct marked *marked, LLVMValueRef function) {
  for (size_t i = 0; i < marked->n; i++)
    if (marked->functions[i] == function)
      return 1;
  return 0;
}

/* A call through a pointer may reach anything. */
static int call_suspends(const struct marked *marked, LLVMValueRef call) {
  LLVMValueRef callee = LLVMGetCalledValue(call);
  if (LLVMIsAInlineAsm(callee))
    return 0;
  if (!LLVMIsAFunction(callee))
    return 1;
  if (!LLVMIsDeclaration(callee))
    return is_marked(marked, callee);
  const struct pacc_devfn *devfn = pacc_devfn_find(pacc_name(callee));
  return devfn && devfn->flags & PACC_DEV_SUSPENDS;
}

static int function_suspends(const struct marked *marked, LLVMValueRef f) {
  PACC_EACH_BLOCK(block, f)
  PACC_EACH_INSTRUCTION(i, block) {
    if (LLVMIsACallInst(i) && call_suspends(marked, i))
      return 1;
  }
  return 0;
}

/* Adds a function that is defined here, once. */
static void mark(struct marked *marked, LLVMValueRef function) {
  if (LLVMIsAFunction(function) && !LLVMIsDeclaration(function) &&
      !is_marked(marked, function))
    marked->functions[marked->n++] = function;
}

/* What a function calls; through a pointer it may be any that is no entry. */
static void mark_callees(struct pacc_retarget *r, struct marked *marked,
                         LLVMValueRef function) {
  PACC_EACH_BLOCK(block, function)
  PACC_EACH_INSTRUCTION(i, block) {
    LLVMValueRef callee = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
    if (!callee || LLVMIsAInlineAsm(callee))
      continue;
    mark(marked, callee);
    if (LLVMIsAFunction(callee))
      continue;
    PACC_EACH_FUNCTION(f, r->module) {
      if (LLVMGetLinkage(f) == LLVMInternalLinkage)
        mark(marked, f);
    }
  }
}

LLVMValueRef *pacc_retarget_reached(struct pacc_retarget *r,
                                    LLVMValueRef function, size_t *n) {
  size_t n_functions = 0;
  PACC_EACH_FUNCTION(f, r->module) n_functions++;
  struct marked marked = {calloc(n_functions + 1, sizeof(LLVMValueRef)), 0};
  if (!marked.functions) {
    pacc_cpu_fail(PACC_CPU_ERROR_OUT_OF_MEMORY, "no memory for the call graph");
    return NULL;
  }
  mark(&marked, function);
  for (size_t i = 0; i < marked.n; i++)
    mark_callees(r, &marked, marked.functions[i]);
  *n = marked.n;
  return marked.functions;
}

int pacc_retarget_suspension(struct pacc_retarget *r) {
  size_t n_functions = 0, before;
  PACC_EACH_FUNCTION(f, r->module) n_functions++;
  struct marked marked = {calloc(n_functions + 1, sizeof(LLVMValueRef)), 0};
  if (!marked.functions)
    return pacc_cpu_fail(PACC_CPU_ERROR_OUT_OF_MEMORY,
                         "no memory for the call graph");
  do {
    before = marked.n;
    PACC_EACH_FUNCTION(f, r->module) {
      if (!LLVMIsDeclaration(f) && !is_marked(&marked, f) &&
          function_suspends(&marked, f))
        marked.functions[marked.n++] = f;
    }
  } while (marked.n != before);
  for (size_t i = 0; i < r->program->n_kernels; i++) {
    struct pacc_cpu_kernel *kernel = &r->program->kernels[i];
    kernel->may_suspend =
        is_marked(&marked, LLVMGetNamedFunction(r->module, kernel->symbol));
  }
  free(marked.functions);
  return 0;
}
