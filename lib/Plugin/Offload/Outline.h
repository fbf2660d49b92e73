//===- Outline.h - Device code in functions of its own ----------*- C++ -*-===//
//
// What a region needs to run on the device (its checks, the question whether it
// is worth it, and the calls of the runtime) goes into a function that is not
// inlined, so that the program's own function stays as small as it was, is
// inlined where it was, and its loops get the registers that they had. Regions
// with next to nothing to do don't even call that.
//
//===----------------------------------------------------------------------===//
#ifndef PACC_PLUGIN_OFFLOAD_OUTLINE_H
#define PACC_PLUGIN_OFFLOAD_OUTLINE_H

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/PassManager.h"

namespace pacc {

/// A region's code for the device begins here. \p IsTiny is a condition under
/// which no device can be faster.
void markRegion(llvm::IRBuilderBase &Builder, llvm::Value *IsTiny);

/// Moves the code of the regions and spans of \p F out of it:
///
///     tiny, and nobody insists -----------------+
///     F.offload(...) -- done --> after          |
///          |                                    |
///     __pacc_rt_host_begin                      |
///          |                                    |
///     the original loops <----------------------+
///
/// Regions whose code can't be moved stay as they are.
void outlineRegions(llvm::Function &F, llvm::FunctionAnalysisManager &FAM);

} // namespace pacc

#endif
