//===- Runtime.h - The device runtime in a module ---------------*- C++ -*-===//
//
// Links the bitcode of lib/DeviceRT into a device module and knows its types
// and functions. Mirrors lib/DeviceRT/device.h.
//
//===----------------------------------------------------------------------===//
#ifndef PACC_AGGREGATE_RUNTIME_H
#define PACC_AGGREGATE_RUNTIME_H

#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace pacc {

/// Fields of struct pacc_launch.
enum LaunchField : unsigned {
  LaunchKernel,
  LaunchAggregated,
  LaunchArgs,
  LaunchStream,
  LaunchAggStream,
  LaunchArgBytes,
  LaunchShared,
  LaunchWait,
  LaunchGrid,
  LaunchBlock,
};

/// What happens to a launch that CUDA has no room for: PACC_NOW and so on.
enum class Wait : unsigned { Now, Later, LaterAll };

/// Index of the x component in struct pacc_ids, an array of 32-bit words.
enum IdsIndex : unsigned {
  IdsThread = 0,
  IdsBlockSize = 3,
  IdsBlock = 6,
  IdsGridSize = 9,
  IdsWords = 13,
};

class DeviceRuntime {
public:
  /// Links the runtime. `Like` gives the target attributes; `PoolBytes` is a
  /// power of two.
  static llvm::Expected<DeviceRuntime>
  link(llvm::Module &M, const llvm::Function &Like, uint64_t PoolBytes);

  llvm::Module &module() const { return *M; }
  llvm::StructType *launchType() const { return LaunchTy; }
  llvm::ArrayType *idsType() const { return IdsTy; }

  /// A function of device.h, without its prefix: "launch_warp".
  llvm::Function *function(llvm::StringRef Name) const;

  /// Bytes of a record with so many bytes of arguments.
  static uint64_t recordBytes(uint64_t ArgBytes);

private:
  explicit DeviceRuntime(llvm::Module &M);

  llvm::Module *M;
  llvm::StructType *LaunchTy;
  llvm::ArrayType *IdsTy;
};

} // namespace pacc

#endif
