//===- Registers.h - Registers of a kernel without ptxas --------*- C++ -*-===//
#ifndef PACC_PLUGIN_OFFLOAD_REGISTERS_H
#define PACC_PLUGIN_OFFLOAD_REGISTERS_H

namespace llvm {
class Function;
}

namespace pacc {

/// 32-bit registers per thread that ptxas will need for \p Kernel, optimised
/// NVPTX code: an estimate from the values that are live at a time. Its error
/// is in docs/model.md.
unsigned estimateRegisters(const llvm::Function &Kernel);

} // namespace pacc

#endif
