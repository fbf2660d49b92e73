//===- Rewrite.h - Turns planned launches into merged ones ------*- C++ -*-===//
#ifndef PACC_AGGREGATE_REWRITE_H
#define PACC_AGGREGATE_REWRITE_H

#include "Child.h"
#include "Plan.h"

namespace pacc {

/// Rewrites the merged sites of the plan and writes the aggregated kernels:
/// those of the plan and those of `Exported`.
void rewriteSites(DeviceRuntime &Runtime,
                  llvm::MutableArrayRef<PlannedSite> Sites,
                  llvm::ArrayRef<llvm::Function *> Exported);

} // namespace pacc

#endif
