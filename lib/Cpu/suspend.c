/* suspend.c: which kernels hold threads that may wait for others. Those run on
 * fibers, all others as plain loops. */
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
