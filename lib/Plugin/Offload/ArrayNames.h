//===- ArrayNames.h - What the program calls an array -----------*- C++ -*-===//
#ifndef PACC_PLUGIN_OFFLOAD_ARRAYNAMES_H
#define PACC_PLUGIN_OFFLOAD_ARRAYNAMES_H

#include <string>

namespace polly {
class ScopArrayInfo;
} // namespace polly

namespace pacc {

/// The name of an array, or of a scalar, for messages: the source's, if there
/// is debug information, or the IR's. Without both it says where the address
/// comes from: "arg 2 of f", "result of malloc", "*p"; of a scalar Polly's
/// name.
std::string arrayName(const polly::ScopArrayInfo &SAI);

} // namespace pacc

#endif
