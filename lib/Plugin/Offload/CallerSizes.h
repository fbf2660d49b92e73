//===- CallerSizes.h - Sizes that a function is called with -----*- C++ -*-===//
#ifndef PACC_PLUGIN_OFFLOAD_CALLERSIZES_H
#define PACC_PLUGIN_OFFLOAD_CALLERSIZES_H

#include "isl/isl-noexceptions.h"

namespace polly {
class Scop;
} // namespace polly

namespace pacc {

/// Values of parameters of \p S where the module calls its function with
/// constants: the largest ones. Others may call it, too, so that nothing can
/// rely on them; of a function that others may call, small ones don't count.
isl::set callerSizes(const polly::Scop &S);

} // namespace pacc

#endif
