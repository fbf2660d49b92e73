/* module.c: what compiling ahead of time and just in time have in common. */
#include "module.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/Target.h>

#include <pthread.h>
#include <stdio.h>

static pthread_once_t targets_once = PTHREAD_ONCE_INIT;
static int targets_failed;

static void targets_init(void) {
  targets_failed =
      LLVMInitializeNativeTarget() || LLVMInitializeNativeAsmPrinter();
}

/* The oldest processor with instructions for rounding and population count.
 * Newer ones would let the vectoriser form masked accesses, which check.c does
 * not see; fused multiply-adds are wanted only where the code asks for them. */
static const char *processor(void) {
#ifdef __x86_64__
  return __builtin_cpu_supports("sse4.2") ? "x86-64-v2" : "x86-64";
#else
  return "generic";
#endif
}

LLVMTargetMachineRef pacc_module_machine(LLVMCodeModel model) {
  pthread_once(&targets_once, targets_init);
  char *triple = LLVMGetDefaultTargetTriple(), *message = NULL;
  LLVMTargetRef target;
  LLVMTargetMachineRef machine = NULL;
  if (!targets_failed && !LLVMGetTargetFromTriple(triple, &target, &message))
    machine =
        LLVMCreateTargetMachine(target, triple, processor(), "",
                                LLVMCodeGenLevelDefault, LLVMRelocPIC, model);
  if (!machine)
    pacc_cpu_fail(PACC_CPU_ERROR_COMPILE,
                  "LLVM has no code generator for this host, %s: %s", triple,
                  message ? message : "not built in");
  LLVMDisposeMessage(message);
  LLVMDisposeMessage(triple);
  return machine;
}

static void on_diagnostic(LLVMDiagnosticInfoRef info, void *context) {
  char *text = context;
  if (LLVMGetDiagInfoSeverity(info) != LLVMDSError || *text)
    return;
  char *description = LLVMGetDiagInfoDescription(info);
  snprintf(text, PACC_CPU_DETAIL_SIZE, "%s", description);
  LLVMDisposeMessage(description);
}

void pacc_module_watch(LLVMContextRef context,
                       char text[PACC_CPU_DETAIL_SIZE]) {
  *text = 0;
  LLVMContextSetDiagnosticHandler(context, on_diagnostic, text);
}

void pacc_module_unwatch(LLVMContextRef context) {
  LLVMContextSetDiagnosticHandler(context, NULL, NULL);
}

int pacc_module_read(LLVMContextRef context, const void *bitcode, size_t size,
                     LLVMModuleRef *module) {
  char text[PACC_CPU_DETAIL_SIZE];
  pacc_module_watch(context, text);
  LLVMMemoryBufferRef buffer =
      LLVMCreateMemoryBufferWithMemoryRangeCopy(bitcode, size, "device code");
  int failed = LLVMParseBitcodeInContext2(context, buffer, module);
  LLVMDisposeMemoryBuffer(buffer);
  pacc_module_unwatch(context);
  if (failed)
    return pacc_cpu_fail(PACC_CPU_ERROR_INVALID_IMAGE,
                         "cannot read the bitcode: %s",
                         *text ? text : "not bitcode");
  return 0;
}
