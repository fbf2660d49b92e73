//===- Options.h - Options of the plugin ------------------------*- C++ -*-===//
//
// One struct with every option of include/pacc/options.def. Its values come
// from the command line (-mllvm -polly-acc-...) and, on top of them, from the
// parameters of the pass (polly-acc<...>).
//
//===----------------------------------------------------------------------===//
#ifndef PACC_PLUGIN_OPTIONS_H
#define PACC_PLUGIN_OPTIONS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>

namespace llvm {
class raw_ostream;
}

namespace pacc {

struct Options {
#define PACC_FLAG(id, name, value, help) bool id = value;
#define PACC_NUMBER(id, name, value, help) uint64_t id = value;
#define PACC_STRING(id, name, value, values, help) std::string id = value;
#include "pacc/options.def"

  /// What the command line says.
  static Options fromCommandLine();

  /// Changes the options named in `a=1;b;no-c`. Unknown names and values that
  /// do not parse are errors that name the legal ones.
  llvm::Error parse(llvm::StringRef Parameters);

  /// The legal values of every option; the first violation is the error.
  llvm::Error validate() const;

  /// Prints the options that differ from their defaults in the form that
  /// parse() takes.
  void print(llvm::raw_ostream &OS) const;
};

/// True if -polly-acc is given.
bool isOffloadEnabled();

/// True if -polly-acc-blocks is given.
bool areBlocksWanted();

/// Shape of a thread block, or all zero for one that the model chooses.
struct BlockShape {
  unsigned X = 0, Y = 0, Z = 0;
};
llvm::Expected<BlockShape> parseBlockShape(llvm::StringRef Text);

} // namespace pacc

#endif
