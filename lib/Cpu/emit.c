/* emit.c: the object file of an ahead-of-time compilation: the retargeted
 * code, and tables as image.h has them. */
#include "image.h"
#include "retarget.h"
#include "status.h"

#include <llvm-c/Target.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_OF(name) #name
#define NAME_OF(macro) TEXT_OF(macro)

struct emitter {
  LLVMModuleRef module;
  LLVMContextRef context;
  LLVMTypeRef i32, i64, ptr;
  const struct pacc_cpu_program *program;
};

static LLVMValueRef number32(struct emitter *e, uint32_t value) {
  return LLVMConstInt(e->i32, value, 0);
}
static LLVMValueRef number64(struct emitter *e, uint64_t value) {
  return LLVMConstInt(e->i64, value, 0);
}

/* A global of this file with that value. */
static LLVMValueRef make_global(struct emitter *e, LLVMValueRef value,
                                int constant) {
  LLVMValueRef global =
      LLVMAddGlobal(e->module, LLVMTypeOf(value), "__pacc_table");
  LLVMSetInitializer(global, value);
  LLVMSetLinkage(global, LLVMPrivateLinkage);
  LLVMSetGlobalConstant(global, constant);
  return global;
}

static LLVMValueRef make_text(struct emitter *e, const char *text) {
  return make_global(
      e, LLVMConstStringInContext2(e->context, text, strlen(text), 0), 1);
}

static LLVMValueRef make_numbers(struct emitter *e, const uint32_t *numbers,
                                 uint32_t n) {
  LLVMValueRef *values = calloc(n + 1u, sizeof(LLVMValueRef));
  if (!values)
    return NULL;
  for (uint32_t i = 0; i < n; i++)
    values[i] = number32(e, numbers[i]);
  LLVMValueRef array = LLVMConstArray2(e->i32, values, n);
  free(values);
  return make_global(e, array, 1);
}

static LLVMValueRef make_struct(struct emitter *e, LLVMValueRef *fields,
                                unsigned n) {
  return LLVMConstStructInContext(e->context, fields, n, 0);
}

/* An array of structs, made one by one. NULL if memory is out. */
static LLVMValueRef make_table(struct emitter *e, size_t n,
                               LLVMValueRef (*make)(struct emitter *, size_t),
                               int constant) {
  if (!n)
    return LLVMConstNull(e->ptr);
  LLVMValueRef *values = calloc(n, sizeof(LLVMValueRef));
  if (!values)
    return NULL;
  LLVMValueRef table = NULL;
  size_t made = 0;
  while (made < n && (values[made] = make(e, made)))
    made++;
  if (made == n)
    table = make_global(e, LLVMConstArray2(LLVMTypeOf(values[0]), values, n),
                        constant);
  free(values);
  return table;
}

static LLVMValueRef make_kernel(struct emitter *e, size_t i) {
  const struct pacc_cpu_kernel *k = &e->program->kernels[i];
  LLVMValueRef block[3];
  for (unsigned c = 0; c < 3; c++)
    block[c] = number32(e, k->block[c]);
  LLVMValueRef fields[] = {
      make_text(e, k->name),
      make_text(e, k->symbol),
      LLVMGetNamedFunction(e->module, k->symbol),
      number32(e, (uint32_t)k->may_suspend),
      number32(e, k->n_params),
      make_numbers(e, k->param_sizes, k->n_params),
      make_numbers(e, k->param_offsets, k->n_params),
      number32(e, k->params_size),
      number32(e, k->static_shared),
      number32(e, k->shared_align),
      LLVMConstArray2(e->i32, block, 3),
      number32(e, k->max_threads),
      number32(e, k->dynamic_limit),
  };
  return fields[5] && fields[6]
             ? make_struct(e, fields, sizeof(fields) / sizeof(fields[0]))
             : NULL;
}

static LLVMValueRef make_variable(struct emitter *e, size_t i) {
  const struct pacc_cpu_variable *v = &e->program->variables[i];
  char name[48];
  snprintf(name, sizeof(name), PACC_CPU_PLACE_FORMAT, (unsigned)i);
  LLVMValueRef place = LLVMGetNamedGlobal(e->module, name);
  LLVMValueRef image = LLVMGetNamedGlobal(e->module, v->image);
  if (LLVMTypeOf(image) != e->ptr)
    image = LLVMConstAddrSpaceCast(image, e->ptr);
  LLVMValueRef fields[] = {make_text(e, v->name), image,
                           place ? place : LLVMConstNull(e->ptr),
                           number64(e, v->size), number64(e, v->align)};
  return make_struct(e, fields, sizeof(fields) / sizeof(fields[0]));
}

static LLVMValueRef make_relocation(struct emitter *e, size_t i) {
  const struct pacc_cpu_relocation *r = &e->program->relocations[i];
  LLVMValueRef fields[] = {number32(e, r->variable), number32(e, r->target),
                           number64(e, r->offset)};
  return make_struct(e, fields, sizeof(fields) / sizeof(fields[0]));
}

/* A symbol that linkers define at an end of a section, if there is one. */
static LLVMValueRef section_end(struct emitter *e, const char *name) {
  LLVMValueRef global = LLVMAddGlobal(e->module, e->ptr, name);
  LLVMSetLinkage(global, LLVMExternalWeakLinkage);
  LLVMSetVisibility(global, LLVMHiddenVisibility);
  return global;
}

/* Registers the image before the constructors of the program run. */
static void make_constructor(struct emitter *e, LLVMValueRef image) {
  LLVMTypeRef nothing = LLVMVoidTypeInContext(e->context);
  LLVMTypeRef with_image = LLVMFunctionType(nothing, &e->ptr, 1, 0);
  LLVMTypeRef without = LLVMFunctionType(nothing, NULL, 0, 0);
  LLVMValueRef enter =
      LLVMAddFunction(e->module, NAME_OF(PACC_CPU_REGISTER), with_image);
  LLVMValueRef f = LLVMAddFunction(e->module, "__pacc_start", without);
  LLVMSetLinkage(f, LLVMInternalLinkage);
  LLVMBuilderRef b = LLVMCreateBuilderInContext(e->context);
  LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(e->context, f, ""));
  LLVMBuildCall2(b, with_image, enter, &image, 1, "");
  LLVMBuildRetVoid(b);
  LLVMDisposeBuilder(b);
  /* Not llvm.global_ctors: that would be .ctors here, which not all linkers
   * know. 101 is the first priority that is the program's. */
  LLVMValueRef entry = make_global(e, f, 0);
  LLVMSetSection(entry, ".init_array.101");
}

static int make_image(struct emitter *e) {
  const struct pacc_cpu_program *p = e->program;
  LLVMValueRef kernels = make_table(e, p->n_kernels, make_kernel, 0);
  LLVMValueRef variables = make_table(e, p->n_variables, make_variable, 1);
  LLVMValueRef relocations =
      make_table(e, p->n_relocations, make_relocation, 1);
  if (!kernels || !variables || !relocations)
    return pacc_cpu_fail(PACC_CPU_ERROR_OUT_OF_MEMORY,
                         "no memory for the tables of the program");
  LLVMValueRef fields[] = {
      kernels,
      number64(e, p->n_kernels),
      variables,
      number64(e, p->n_variables),
      relocations,
      number64(e, p->n_relocations),
      section_end(e, "__start_llvm_offload_entries"),
      section_end(e, "__stop_llvm_offload_entries"),
  };
  make_constructor(
      e, make_global(
             e, make_struct(e, fields, sizeof(fields) / sizeof(fields[0])), 1));
  return 0;
}

int pacc_retarget_emit(LLVMModuleRef module, LLVMTargetMachineRef machine,
                       const struct pacc_cpu_program *program,
                       const char *path) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  struct emitter e = {.module = module,
                      .context = context,
                      .i32 = LLVMInt32TypeInContext(context),
                      .i64 = LLVMInt64TypeInContext(context),
                      .ptr = LLVMPointerTypeInContext(context, 0),
                      .program = program};
  int status = make_image(&e);
  if (status)
    return status;
  char *message = NULL;
  if (LLVMTargetMachineEmitToFile(machine, module, path, LLVMObjectFile,
                                  &message))
    status = pacc_cpu_fail(PACC_CPU_ERROR_COMPILE, "cannot write %s: %s", path,
                           message ? message : "no code generator");
  LLVMDisposeMessage(message);
  return status;
}
