/* entry.c: the entries of kernels (device_abi.h), and the ids of thread and
 * block as values.
 *
 *   entry:  load the parameters
 *   loop:   i = phi 0, i + 1;  id = threads[i];  self->id = id;
 *           kernel(parameters);  again while i + 1 < n
 *
 * The kernel is inlined into the loop. The store is volatile: it says which
 * thread runs when a fault comes, and keeps iterations from being merged.
 */
#include "retarget_private.h"

#include "status.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static const char entry_prefix[] = "__pacc_entry.";
static const char id_name[] = "pacc.id";

/* -- Ids -- */

static int is_entry(LLVMValueRef function) {
  return pacc_starts_with(pacc_name(function), entry_prefix);
}

LLVMValueRef pacc_first_instruction(LLVMValueRef function) {
  LLVMValueRef i = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function));
  while (LLVMIsAAllocaInst(i))
    i = LLVMGetNextInstruction(i);
  return i;
}

static LLVMValueRef load_at(struct pacc_retarget *r, LLVMTypeRef type,
                            LLVMValueRef base, size_t offset) {
  LLVMValueRef index = LLVMConstInt(r->i64, offset, 0);
  LLVMValueRef place =
      LLVMBuildInBoundsGEP2(r->builder, r->i8, base, &index, 1, "");
  return LLVMBuildLoad2(r->builder, type, place, "");
}

/* The load of the packed id in the loop of an entry. */
static LLVMValueRef find_id(LLVMValueRef entry) {
  PACC_EACH_BLOCK(block, entry)
  PACC_EACH_INSTRUCTION(i, block) {
    if (LLVMIsALoadInst(i) && !strcmp(pacc_name(i), id_name))
      return i;
  }
  return NULL;
}

struct pacc_ids pacc_retarget_ids(struct pacc_retarget *r,
                                  LLVMValueRef function) {
  struct pacc_ids ids;
  LLVMBuilderRef b = r->builder;
  LLVMValueRef thread, id;
  if (is_entry(function)) {
    thread = LLVMGetParam(function, 0);
    id = find_id(function);
  } else {
    LLVMPositionBuilderBefore(b, pacc_first_instruction(function));
    LLVMValueRef self = pacc_retarget_devfn(r, "pacc_dev_self");
    thread = LLVMBuildCall2(b, LLVMGlobalGetValueType(self), self, NULL, 0, "");
    id = load_at(r, r->i64, thread, offsetof(struct pacc_cpu_thread, id));
  }
  LLVMPositionBuilderBefore(b, LLVMGetNextInstruction(id));
  for (unsigned c = 0; c < 3; c++) {
    LLVMValueRef shift = LLVMConstInt(r->i64, 16ull * c, 0);
    LLVMValueRef part = LLVMBuildLShr(b, id, shift, "");
    part = LLVMBuildTrunc(b, part, r->i16, "");
    ids.values[PACC_ID_THREAD + c] = LLVMBuildZExt(b, part, r->i32, "");
  }
  if (is_entry(function))
    LLVMPositionBuilderBefore(
        b, LLVMGetBasicBlockTerminator(LLVMGetEntryBasicBlock(function)));
  LLVMValueRef block =
      load_at(r, r->ptr, thread, offsetof(struct pacc_cpu_thread, block));
  static const size_t fields[3] = {offsetof(struct pacc_cpu_block, id),
                                   offsetof(struct pacc_cpu_block, dim),
                                   offsetof(struct pacc_cpu_block, grid)};
  for (unsigned i = 0; i < 9; i++)
    ids.values[PACC_ID_BLOCK + i] =
        load_at(r, r->i32, block, fields[i / 3] + i % 3 * sizeof(uint32_t));
  LLVMTypeRef shared = LLVMPointerTypeInContext(r->context, 3);
  ids.values[PACC_ID_SHARED] =
      load_at(r, shared, block, offsetof(struct pacc_cpu_block, shared));
  ids.values[PACC_ID_DYNAMIC] =
      load_at(r, shared, block, offsetof(struct pacc_cpu_block, dynamic));
  return ids;
}

/* -- Entries -- */

/* A parameter passed in memory is of the type that byval names. */
static LLVMTypeRef byval_type(LLVMValueRef kernel, unsigned i) {
  unsigned kind = LLVMGetEnumAttributeKindForName("byval", 5);
  LLVMAttributeRef byval = LLVMGetEnumAttributeAtIndex(kernel, i + 1, kind);
  return byval ? LLVMGetTypeAttributeValue(byval) : NULL;
}

static uint32_t param_align(struct pacc_retarget *r, LLVMValueRef kernel,
                            unsigned i, LLVMTypeRef type) {
  uint32_t align = LLVMABIAlignmentOfType(r->layout, type);
  unsigned kind = LLVMGetEnumAttributeKindForName("align", 5);
  LLVMAttributeRef given = LLVMGetEnumAttributeAtIndex(kernel, i + 1, kind);
  if (given && byval_type(kernel, i) &&
      LLVMGetEnumAttributeValue(given) > align)
    align = (uint32_t)LLVMGetEnumAttributeValue(given);
  return align;
}

/* Sizes and offsets of the kernel's parameters. */
static int describe_params(struct pacc_retarget *r, LLVMValueRef function,
                           struct pacc_cpu_kernel *kernel) {
  uint32_t n = LLVMCountParams(function);
  kernel->n_params = n;
  kernel->param_sizes = calloc(n + 1, sizeof(uint32_t));
  kernel->param_offsets = calloc(n + 1, sizeof(uint32_t));
  if (!kernel->param_sizes || !kernel->param_offsets)
    return pacc_cpu_fail(PACC_CPU_ERROR_OUT_OF_MEMORY,
                         "no memory for a kernel's parameters");
  uint64_t offset = 0;
  for (unsigned i = 0; i < n; i++) {
    LLVMTypeRef type = byval_type(function, i);
    if (!type)
      type = LLVMTypeOf(LLVMGetParam(function, i));
    uint32_t align = param_align(r, function, i, type);
    uint64_t size = LLVMABISizeOfType(r->layout, type);
    offset = (offset + align - 1) / align * align;
    if (offset + size > PACC_CPU_MAX_PARAMS)
      return pacc_cpu_fail(PACC_CPU_ERROR_INVALID_IMAGE,
                           "kernel '%s' takes more than %d bytes of parameters",
                           kernel->name, PACC_CPU_MAX_PARAMS);
    kernel->param_offsets[i] = (uint32_t)offset;
    kernel->param_sizes[i] = (uint32_t)size;
    offset += size;
  }
  kernel->params_size = (uint32_t)offset;
  return 0;
}

/* The numbers in an attribute like "nvvm.reqntid"="32,8,1", up to three. */
static unsigned read_sizes(LLVMValueRef function, const char *name,
                           uint32_t sizes[3]) {
  LLVMAttributeRef attribute = LLVMGetStringAttributeAtIndex(
      function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, name,
      (unsigned)strlen(name));
  if (!attribute)
    return 0;
  unsigned length, n = 0;
  char text[64];
  const char *value = LLVMGetStringAttributeValue(attribute, &length);
  snprintf(text, sizeof(text), "%.*s", (int)length, value);
  for (char *at = text; n < 3 && *at; n++) {
    sizes[n] = (uint32_t)strtoul(at, &at, 10);
    at += *at == ',';
  }
  return n;
}

static void describe_limits(LLVMValueRef function,
                            struct pacc_cpu_kernel *kernel) {
  uint32_t sizes[3];
  unsigned n = read_sizes(function, "nvvm.reqntid", sizes);
  for (unsigned i = 0; n && i < 3; i++)
    kernel->block[i] = i < n ? sizes[i] : 1;
  n = read_sizes(function, "nvvm.maxntid", sizes);
  kernel->max_threads = n != 0;
  for (unsigned i = 0; i < n; i++)
    kernel->max_threads *= sizes[i];
}

static void copy_param_attributes(LLVMValueRef function, LLVMValueRef call) {
  enum { MAX = 32 };
  for (unsigned i = 1; i <= LLVMCountParams(function); i++) {
    LLVMAttributeRef attributes[MAX];
    unsigned n = LLVMGetAttributeCountAtIndex(function, i);
    if (n > MAX)
      continue;
    LLVMGetAttributesAtIndex(function, i, attributes);
    for (unsigned k = 0; k < n; k++)
      LLVMAddCallSiteAttribute(call, i, attributes[k]);
  }
}

/* Calls the kernel with the parameters out of the block of them. */
static void call_kernel(struct pacc_retarget *r, LLVMValueRef function,
                        LLVMValueRef *arguments) {
  LLVMValueRef call =
      LLVMBuildCall2(r->builder, LLVMGlobalGetValueType(function), function,
                     arguments, LLVMCountParams(function), "");
  copy_param_attributes(function, call);
}

static LLVMValueRef load_param(struct pacc_retarget *r, LLVMValueRef function,
                               unsigned i, LLVMValueRef params,
                               uint32_t offset) {
  LLVMTypeRef type = LLVMTypeOf(LLVMGetParam(function, i));
  LLVMValueRef index = LLVMConstInt(r->i64, offset, 0);
  if (byval_type(function, i)) {
    LLVMValueRef place =
        LLVMBuildInBoundsGEP2(r->builder, r->i8, params, &index, 1, "");
    return LLVMGetPointerAddressSpace(type)
               ? LLVMBuildAddrSpaceCast(r->builder, place, type, "")
               : place;
  }
  if (type == r->i1) /* a byte in memory */
    return LLVMBuildTrunc(r->builder, load_at(r, r->i8, params, offset), type,
                          "");
  return load_at(r, type, params, offset);
}

static int make_entry(struct pacc_retarget *r, LLVMValueRef function,
                      struct pacc_cpu_kernel *kernel) {
  LLVMTypeRef types[4] = {r->ptr, r->ptr, r->ptr, r->i64};
  LLVMValueRef entry = LLVMAddFunction(
      r->module, kernel->symbol, LLVMFunctionType(r->nothing, types, 4, 0));
  if (!r->options->place)
    LLVMSetVisibility(entry, LLVMHiddenVisibility);
  /* Device code that launches the kernel names it by its address. */
  LLVMReplaceAllUsesWith(function, entry);
  LLVMValueRef thread = LLVMGetParam(entry, 0), params = LLVMGetParam(entry, 1);
  LLVMValueRef threads = LLVMGetParam(entry, 2), n = LLVMGetParam(entry, 3);
  LLVMBasicBlockRef start =
      LLVMAppendBasicBlockInContext(r->context, entry, "");
  LLVMBasicBlockRef loop =
      LLVMAppendBasicBlockInContext(r->context, entry, "thread");
  LLVMBasicBlockRef end = LLVMAppendBasicBlockInContext(r->context, entry, "");
  LLVMBuilderRef b = r->builder;

  LLVMPositionBuilderAtEnd(b, start);
  LLVMValueRef *arguments = calloc(kernel->n_params + 1, sizeof(*arguments));
  if (!arguments)
    return pacc_cpu_fail(PACC_CPU_ERROR_OUT_OF_MEMORY,
                         "no memory for a kernel's parameters");
  for (unsigned i = 0; i < kernel->n_params; i++)
    arguments[i] = load_param(r, function, i, params, kernel->param_offsets[i]);
  LLVMBuildBr(b, loop);

  LLVMPositionBuilderAtEnd(b, loop);
  LLVMValueRef i = LLVMBuildPhi(b, r->i64, "i");
  LLVMValueRef place = LLVMBuildInBoundsGEP2(b, r->i64, threads, &i, 1, "");
  LLVMValueRef id = LLVMBuildLoad2(b, r->i64, place, id_name);
  LLVMSetVolatile(LLVMBuildStore(b, id, thread), 1);
  call_kernel(r, function, arguments);
  free(arguments);
  LLVMValueRef next = LLVMBuildAdd(b, i, LLVMConstInt(r->i64, 1, 0), "");
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntULT, next, n, ""), loop, end);
  LLVMValueRef from[2] = {LLVMConstInt(r->i64, 0, 0), next};
  LLVMBasicBlockRef blocks[2] = {start, loop};
  LLVMAddIncoming(i, from, blocks, 2);

  LLVMPositionBuilderAtEnd(b, end);
  LLVMBuildRetVoid(b);
  return 0;
}

static char *entry_symbol(const char *name) {
  size_t size = sizeof(entry_prefix) + strlen(name);
  char *symbol = malloc(size);
  if (symbol)
    snprintf(symbol, size, "%s%s", entry_prefix, name);
  return symbol;
}

static int add_kernel(struct pacc_retarget *r, LLVMValueRef function) {
  struct pacc_cpu_kernel *kernel = pacc_cpu_program_add_kernel(r->program);
  if (!kernel || !(kernel->name = strdup(pacc_name(function))) ||
      !(kernel->symbol = entry_symbol(kernel->name)))
    return pacc_cpu_fail(PACC_CPU_ERROR_OUT_OF_MEMORY,
                         "no memory for a kernel");
  kernel->shared_align = 16;
  int status = describe_params(r, function, kernel);
  if (status)
    return status;
  describe_limits(function, kernel);
  unsigned inlined = LLVMGetEnumAttributeKindForName("alwaysinline", 12);
  LLVMAddAttributeAtIndex(function,
                          (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                          LLVMCreateEnumAttribute(r->context, inlined, 0));
  LLVMSetFunctionCallConv(function, LLVMCCallConv);
  return make_entry(r, function, kernel);
}

int pacc_retarget_entries(struct pacc_retarget *r) {
  PACC_EACH_FUNCTION(f, r->module) {
    if (LLVMGetFunctionCallConv(f) == LLVMPTXKernelCallConv &&
        !LLVMIsDeclaration(f)) {
      int status = add_kernel(r, f);
      if (status)
        return status;
    }
  }
  return 0;
}
