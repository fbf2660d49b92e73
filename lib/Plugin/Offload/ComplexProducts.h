//===- ComplexProducts.h - Products of complex numbers ----------*- C++ -*-===//
#ifndef PACC_PLUGIN_OFFLOAD_COMPLEXPRODUCTS_H
#define PACC_PLUGIN_OFFLOAD_COMPLEXPRODUCTS_H

namespace llvm {
class Function;
} // namespace llvm

namespace pacc {

/// Writes out the calls of __muldc3 and __mulsc3 in loops of \p F: what a
/// product is where its plain value is NaN (C23, G.5.1; both libraries do just
/// that). Returns true if anything changed. Quotients stay calls: libgcc and
/// compiler-rt compute them in different ways.
bool expandComplexProducts(llvm::Function &F);

} // namespace pacc

#endif
