/* jit.c: bitcode in, machine code out, by LLVM's LLJIT. Each module has a
 * context and a JIT of its own, so that modules can be compiled at the same
 * time and leave nothing behind. */
#include "jit.h"

#include "arena.h"
#include "devfn.h"
#include "hostfn.h"
#include "module.h"
#include "retarget.h"
#include "status.h"

#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pacc_jit {
  LLVMOrcLLJITRef lljit;
  struct pacc_cpu_program program;
  char message[256]; /* what the JIT itself reports */
};

static void on_session_error(void *context, LLVMErrorRef error) {
  struct pacc_jit *jit = context;
  char *message = LLVMGetErrorMessage(error);
  if (!*jit->message)
    snprintf(jit->message, sizeof(jit->message), "%s", message);
  LLVMDisposeErrorMessage(message);
}

static int fail_error(const struct pacc_jit *jit, LLVMErrorRef error) {
  char *message = LLVMGetErrorMessage(error);
  pacc_cpu_fail(PACC_CPU_ERROR_COMPILE, "cannot compile for the host: %s%s%s",
                message, *jit->message ? "; " : "", jit->message);
  LLVMDisposeErrorMessage(message);
  return PACC_CPU_ERROR_COMPILE;
}

/* -- Steps -- */

static int place(void *context, const char *name, uint64_t size, uint64_t align,
                 uint64_t *address) {
  (void)context;
  if (align > PACC_CPU_PAGE)
    return pacc_cpu_fail(PACC_CPU_ERROR_INVALID_IMAGE,
                         "variable '%s' wants an alignment of %llu bytes, the "
                         "limit is %d",
                         name, (unsigned long long)align, PACC_CPU_PAGE);
  return pacc_cpu_arena_alloc(PACC_CPU_VARIABLE, size, align, name, address);
}

static int retarget(struct pacc_jit *jit, LLVMModuleRef module,
                    LLVMTargetMachineRef machine, int check) {
  const struct pacc_cpu_arena *arena = pacc_cpu_arena_get();
  if (!arena)
    return PACC_CPU_ERROR_OUT_OF_MEMORY;
  struct pacc_retarget_options options = {
      .machine = machine,
      .arena_log2 = arena->log2,
      .bounds = (uint64_t)(uintptr_t)arena->bounds,
      .check = check,
      .place = place,
  };
  return pacc_retarget(module, &options, &jit->program);
}

static LLVMOrcCSymbolMapPair symbol(struct pacc_jit *jit, const char *name,
                                    void *address) {
  LLVMJITEvaluatedSymbol value = {
      .Address = (LLVMOrcExecutorAddress)(uintptr_t)address,
      .Flags = {LLVMJITSymbolGenericFlagsExported |
                    LLVMJITSymbolGenericFlagsCallable,
                0}};
  return (LLVMOrcCSymbolMapPair){LLVMOrcLLJITMangleAndIntern(jit->lljit, name),
                                 value};
}

/* Makes the functions known that device code may call, and no others: no
 * symbol of the program is ever bound by chance. */
static int define_symbols(struct pacc_jit *jit) {
  size_t n_device, n_host, n = 0;
  const struct pacc_devfn *device = pacc_devfn_table(&n_device);
  const struct pacc_hostfn *host = pacc_hostfn_table(&n_host);
  LLVMOrcCSymbolMapPair *pairs = calloc(n_device + n_host, sizeof(*pairs));
  if (!pairs)
    return pacc_cpu_fail(PACC_CPU_ERROR_OUT_OF_MEMORY, "no memory for symbols");
  for (size_t i = 0; i < n_device; i++)
    pairs[n++] = symbol(jit, device[i].name, device[i].address);
  for (size_t i = 0; i < n_host; i++)
    pairs[n++] = symbol(jit, host[i].name, host[i].address);
  LLVMErrorRef error =
      LLVMOrcJITDylibDefine(LLVMOrcLLJITGetMainJITDylib(jit->lljit),
                            LLVMOrcAbsoluteSymbols(pairs, n));
  free(pairs);
  return error ? fail_error(jit, error) : 0;
}

/* Takes the machine. */
static int create_lljit(struct pacc_jit *jit, LLVMTargetMachineRef machine) {
  LLVMOrcLLJITBuilderRef builder = LLVMOrcCreateLLJITBuilder();
  LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(
      builder, LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(machine));
  LLVMErrorRef error = LLVMOrcCreateLLJIT(&jit->lljit, builder);
  if (error)
    return fail_error(jit, error);
  LLVMOrcExecutionSessionSetErrorReporter(
      LLVMOrcLLJITGetExecutionSession(jit->lljit), on_session_error, jit);
  return define_symbols(jit);
}

/* Takes the module and its context. */
static int add_module(struct pacc_jit *jit, LLVMModuleRef module) {
  LLVMOrcThreadSafeContextRef context =
      LLVMOrcCreateNewThreadSafeContextFromLLVMContext(
          LLVMGetModuleContext(module));
  LLVMOrcThreadSafeModuleRef safe =
      LLVMOrcCreateNewThreadSafeModule(module, context);
  LLVMOrcDisposeThreadSafeContext(context);
  LLVMErrorRef error = LLVMOrcLLJITAddLLVMIRModule(
      jit->lljit, LLVMOrcLLJITGetMainJITDylib(jit->lljit), safe);
  return error ? fail_error(jit, error) : 0;
}

/* Compiles, and sets the entries of kernels and the values of variables. */
static int link_module(struct pacc_jit *jit) {
  LLVMOrcExecutorAddress address;
  for (size_t i = 0; i < jit->program.n_kernels; i++) {
    struct pacc_cpu_kernel *kernel = &jit->program.kernels[i];
    LLVMErrorRef error =
        LLVMOrcLLJITLookup(jit->lljit, &address, kernel->symbol);
    if (error)
      return fail_error(jit, error);
    kernel->entry = (pacc_cpu_entry *)(uintptr_t)address;
  }
  for (size_t i = 0; i < jit->program.n_variables; i++) {
    const struct pacc_cpu_variable *variable = &jit->program.variables[i];
    if (!variable->image)
      continue;
    LLVMErrorRef error =
        LLVMOrcLLJITLookup(jit->lljit, &address, variable->image);
    if (error)
      return fail_error(jit, error);
    memcpy((void *)(uintptr_t)variable->address, (void *)(uintptr_t)address,
           variable->size);
  }
  return 0;
}

static int build(struct pacc_jit *jit, const void *bitcode, size_t size,
                 int check) {
  LLVMTargetMachineRef machine = pacc_module_machine(LLVMCodeModelJITDefault);
  if (!machine)
    return PACC_CPU_ERROR_COMPILE;
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef module = NULL;
  int status = pacc_module_read(context, bitcode, size, &module);
  if (!status)
    status = retarget(jit, module, machine, check);
  if (status) {
    if (module)
      LLVMDisposeModule(module);
    LLVMContextDispose(context);
    LLVMDisposeTargetMachine(machine);
    return status;
  }
  status = create_lljit(jit, machine);
  if (status) {
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return status;
  }
  status = add_module(jit, module);
  return status ? status : link_module(jit);
}

struct pacc_jit *pacc_jit_create(const void *bitcode, size_t size, int check,
                                 int *status) {
  struct pacc_jit *jit = calloc(1, sizeof(*jit));
  if (!jit) {
    *status =
        pacc_cpu_fail(PACC_CPU_ERROR_OUT_OF_MEMORY, "no memory for a module");
    return NULL;
  }
  *status = build(jit, bitcode, size, check);
  if (*status) {
    pacc_jit_destroy(jit);
    return NULL;
  }
  return jit;
}

void pacc_jit_destroy(struct pacc_jit *jit) {
  if (jit->lljit) {
    LLVMErrorRef error = LLVMOrcDisposeLLJIT(jit->lljit);
    if (error)
      LLVMConsumeError(error);
  }
  pacc_cpu_program_clear(&jit->program);
  free(jit);
}

const struct pacc_cpu_kernel *pacc_jit_kernel(const struct pacc_jit *jit,
                                              const char *name) {
  for (size_t i = 0; i < jit->program.n_kernels; i++)
    if (!strcmp(jit->program.kernels[i].name, name))
      return &jit->program.kernels[i];
  return NULL;
}
