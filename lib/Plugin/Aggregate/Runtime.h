//===- Runtime.h - The device runtime in a module ---------------*- C++ -*-===//
//
// Links the bitcode of lib/DeviceRT into a device module and knows its types
// and functions.
//
//===----------------------------------------------------------------------===//
#ifndef PACC_AGGREGATE_RUNTIME_H
#define PACC_AGGREGATE_RUNTIME_H

#include "../../DeviceRT/device.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include <cstddef>

namespace pacc {

/// Fields of struct pacc_launch.
enum LaunchField : unsigned {
  LaunchKernel,
  LaunchAggregated,
  LaunchArgs,
  LaunchStream,
  LaunchAggStream,
  LaunchVarying,
  LaunchSame,
  LaunchArgBytes,
  LaunchShared,
  LaunchWait,
  LaunchSameShape,
  LaunchGrid,
  LaunchBlock,
};

/// What happens to a launch that CUDA has no room for.
enum class Wait : unsigned {
  Now = PACC_NOW,
  Later = PACC_LATER,
  LaterAll = PACC_LATER_ALL
};

/// Index of the x component in struct pacc_ids, an array of 32-bit words.
enum IdsIndex : unsigned {
  IdsThread = offsetof(pacc_ids, thread) / 4,
  IdsBlockSize = offsetof(pacc_ids, block_size) / 4,
  IdsBlock = offsetof(pacc_ids, block) / 4,
  IdsGridSize = offsetof(pacc_ids, grid_size) / 4,
  IdsWords = sizeof(pacc_ids) / 4,
};

/// All of lib/DeviceRT, to be linked into \p M. Its atomics are of the device's
/// scope; its functions name no target.
llvm::Expected<std::unique_ptr<llvm::Module>>
loadDeviceRuntime(const llvm::Module &M);

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

  /// Removes what is not used, and keeps the rest from taking more than
  /// PACC_MAX_REGISTERS registers. To be called when all calls are written.
  void finish();

private:
  explicit DeviceRuntime(llvm::Module &M);

  llvm::Module *M;
  llvm::StructType *LaunchTy;
  llvm::ArrayType *IdsTy;
  llvm::SmallVector<llvm::Function *> Functions;
};

} // namespace pacc

#endif
