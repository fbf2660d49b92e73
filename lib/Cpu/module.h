/* module.h: reading bitcode, and the machine to compile it for. */
#ifndef PACC_CPU_MODULE_H
#define PACC_CPU_MODULE_H

#include "status.h"

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#include <stddef.h>

/* A code generator for this host; NULL, with a detail, if LLVM has none. */
LLVMTargetMachineRef pacc_module_machine(LLVMCodeModel model);

/* Reads bitcode into a module of the context. */
int pacc_module_read(LLVMContextRef context, const void *bitcode, size_t size,
                     LLVMModuleRef *module);

/* Keeps LLVM's first error in `text` ("" before), which LLVM's own handler
 * would print before it ends the program. */
void pacc_module_watch(LLVMContextRef context, char text[PACC_CPU_DETAIL_SIZE]);
void pacc_module_unwatch(LLVMContextRef context);

#endif
