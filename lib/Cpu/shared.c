/* shared.c: shared variables become offsets from the block's shared memory.
 *
 * A variable that one kernel alone uses takes room in that kernel only; what
 * functions share comes first, at the same offset for all. */
#include "retarget_private.h"

#include "status.h"

#include <stdlib.h>

enum { SHARED_SPACE = 3 };

/* user: the only function that uses it; common: there are several, or it is
 * not the entry of a kernel */
struct shared_variable {
  LLVMValueRef global;
  LLVMValueRef user;
  int common, dynamic;
  uint32_t size, align, offset;
};

struct shared_layout {
  struct pacc_retarget *r;
  struct shared_variable *variables;
  size_t n;
};

static int is_shared(LLVMValueRef value) {
  return LLVMIsAGlobalVariable(value) &&
         LLVMGetPointerAddressSpace(LLVMTypeOf(value)) == SHARED_SPACE;
}

static int collect(struct shared_layout *layout) {
  size_t n = 0;
  LLVMModuleRef module = layout->r->module;
  for (LLVMValueRef g = LLVMGetFirstGlobal(module); g; g = LLVMGetNextGlobal(g))
    n += is_shared(g) != 0;
  layout->variables = calloc(n + 1, sizeof(*layout->variables));
  if (!layout->variables)
    return pacc_cpu_fail(PACC_CPU_ERROR_OUT_OF_MEMORY,
                         "no memory for shared variables");
  LLVMTargetDataRef data = layout->r->layout;
  for (LLVMValueRef g = LLVMGetFirstGlobal(module); g;
       g = LLVMGetNextGlobal(g)) {
    if (!is_shared(g))
      continue;
    LLVMTypeRef type = LLVMGlobalGetValueType(g);
    uint32_t given = LLVMGetAlignment(g);
    uint32_t least = LLVMABIAlignmentOfType(data, type);
    layout->variables[layout->n++] = (struct shared_variable){
        .global = g,
        .dynamic = LLVMIsDeclaration(g),
        .size = (uint32_t)LLVMABISizeOfType(data, type),
        .align = given > least ? given : least};
  }
  return 0;
}

static struct shared_variable *find(struct shared_layout *layout,
                                    LLVMValueRef global) {
  struct shared_variable *v = layout->variables;
  while (v->global != global)
    v++;
  return v;
}

/* The kernel of an entry, NULL for other functions. */
static struct pacc_cpu_kernel *kernel_of(struct pacc_retarget *r,
                                         LLVMValueRef function) {
  for (size_t i = 0; i < r->program->n_kernels; i++)
    if (!strcmp(r->program->kernels[i].symbol, pacc_name(function)))
      return &r->program->kernels[i];
  return NULL;
}

struct user {
  struct shared_layout *layout;
  LLVMValueRef function;
};

static void note_user(void *context, LLVMValueRef global) {
  struct user *user = context;
  struct shared_variable *v = find(user->layout, global);
  if (v->user && v->user != user->function)
    v->common = 1;
  v->user = user->function;
}

struct extent {
  struct shared_layout *layout;
  uint32_t size;
};

static void note_extent(void *context, LLVMValueRef global) {
  struct extent *extent = context;
  const struct shared_variable *v = find(extent->layout, global);
  if (v->common && !v->dynamic && v->offset + v->size > extent->size)
    extent->size = v->offset + v->size;
}

/* Calls `visit` for each use of a shared variable in a function. */
static void each_use(LLVMValueRef function,
                     void (*visit)(void *context, LLVMValueRef global),
                     void *context) {
  PACC_EACH_BLOCK(block, function)
  PACC_EACH_INSTRUCTION(i, block) {
    for (int k = 0; k < LLVMGetNumOperands(i); k++)
      pacc_visit_globals(LLVMGetOperand(i, (unsigned)k), is_shared, visit,
                         context);
  }
}

static void find_users(struct shared_layout *layout) {
  PACC_EACH_FUNCTION(f, layout->r->module) {
    struct user user = {layout, f};
    each_use(f, note_user, &user);
  }
  for (size_t i = 0; i < layout->n; i++) {
    struct shared_variable *v = &layout->variables[i];
    if (v->user && !kernel_of(layout->r, v->user))
      v->common = 1;
  }
}

/* Bytes of common variables that a kernel needs: up to the last one that any
 * of its functions uses. */
static int common_size(struct shared_layout *layout, LLVMValueRef entry,
                       uint32_t *size) {
  size_t n;
  LLVMValueRef *functions = pacc_retarget_reached(layout->r, entry, &n);
  if (!functions)
    return PACC_CPU_ERROR_OUT_OF_MEMORY;
  struct extent extent = {layout, 0};
  for (size_t f = 0; f < n; f++)
    each_use(functions[f], note_extent, &extent);
  free(functions);
  *size = extent.size;
  return 0;
}

static uint32_t place_after(uint32_t end, struct shared_variable *v) {
  v->offset = (end + v->align - 1) / v->align * v->align;
  return v->offset + v->size;
}

static int assign_offsets(struct shared_layout *layout) {
  struct pacc_cpu_program *program = layout->r->program;
  uint32_t common = 0, align = 16;
  for (size_t i = 0; i < layout->n; i++) {
    struct shared_variable *v = &layout->variables[i];
    if (v->user && v->align > align)
      align = v->align;
    if (v->common && !v->dynamic)
      common = place_after(common, v);
  }
  for (size_t k = 0; k < program->n_kernels; k++) {
    struct pacc_cpu_kernel *kernel = &program->kernels[k];
    LLVMValueRef entry =
        LLVMGetNamedFunction(layout->r->module, kernel->symbol);
    int status = common_size(layout, entry, &kernel->static_shared);
    if (status)
      return status;
    kernel->shared_align = align;
  }
  for (size_t i = 0; i < layout->n; i++) {
    struct shared_variable *v = &layout->variables[i];
    if (!v->user || v->common || v->dynamic)
      continue;
    struct pacc_cpu_kernel *kernel = kernel_of(layout->r, v->user);
    kernel->static_shared = place_after(kernel->static_shared, v);
  }
  return 0;
}

/* -- Uses -- */

/* The ids of the function whose uses are replaced. */
struct replacement {
  struct shared_layout *layout;
  struct pacc_ids ids;
};

static void begin_function(void *context, LLVMValueRef function) {
  struct replacement *replacement = context;
  replacement->ids = pacc_retarget_ids(replacement->layout->r, function);
}

static LLVMValueRef address_of(void *context, LLVMValueRef global) {
  struct replacement *replacement = context;
  struct pacc_retarget *r = replacement->layout->r;
  const struct shared_variable *v = find(replacement->layout, global);
  if (v->dynamic)
    return replacement->ids.values[PACC_ID_DYNAMIC];
  LLVMValueRef offset = LLVMConstInt(r->i64, v->offset, 0);
  return LLVMBuildInBoundsGEP2(r->builder, r->i8,
                               replacement->ids.values[PACC_ID_SHARED], &offset,
                               1, "");
}

int pacc_retarget_shared(struct pacc_retarget *r) {
  struct shared_layout layout = {.r = r};
  int status = collect(&layout);
  if (!status) {
    find_users(&layout);
    status = assign_offsets(&layout);
  }
  struct replacement replacement = {.layout = &layout};
  struct pacc_expansion expansion = {is_shared, begin_function, address_of,
                                     &replacement};
  if (!status)
    status = pacc_expand_uses(r, &expansion);
  for (size_t i = 0; !status && i < layout.n; i++) {
    LLVMValueRef global = layout.variables[i].global;
    /* What is left are constants that nobody uses. */
    LLVMReplaceAllUsesWith(global, LLVMGetPoison(LLVMTypeOf(global)));
    LLVMDeleteGlobal(global);
  }
  free(layout.variables);
  return status;
}
