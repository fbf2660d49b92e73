//===- Rewrite.h - Turns planned launches into merged ones ------*- C++ -*-===//
#ifndef PACC_AGGREGATE_REWRITE_H
#define PACC_AGGREGATE_REWRITE_H

#include "Child.h"
#include "Plan.h"

namespace pacc {

/// Rewrites the merged sites of the plan and writes the aggregated kernels.
void rewriteSites(DeviceRuntime &Runtime,
                  llvm::MutableArrayRef<PlannedSite> Sites);

} // namespace pacc

#endif
