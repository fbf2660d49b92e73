//===- Image.cpp - Device code in the host's module -----------------------===//
//
// The members of DeviceModule that write `struct pacc_image` and
// `struct pacc_region` (pacc/abi.h).
//
//===----------------------------------------------------------------------===//
#include "Offload/DeviceModule.h"

#include "pacc/abi.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/GlobalVariable.h"

using namespace llvm;

namespace pacc {

/// 64-bit FNV-1a (Fowler, Noll, Vo), as the runtime checks it.
static uint64_t fnv1a(StringRef Bytes) {
  uint64_t Hash = 0xcbf29ce484222325;
  for (unsigned char Byte : Bytes)
    Hash = (Hash ^ Byte) * 0x100000001b3;
  return Hash;
}

GlobalVariable *DeviceModule::createData(Constant *Data) {
  return new GlobalVariable(Host, Data->getType(), true,
                            GlobalValue::PrivateLinkage, Data, ".pacc");
}

Constant *DeviceModule::createString(StringRef Text) {
  GlobalVariable *G =
      createData(ConstantDataArray::getString(Host.getContext(), Text));
  G->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
  return G;
}

/// struct pacc_image, field by field.
static StructType *imageType(LLVMContext &C) {
  Type *Ptr = PointerType::get(C, 0), *I64 = Type::getInt64Ty(C);
  return StructType::get(C, {Ptr, Ptr, Ptr, Ptr, I64, I64, Ptr, I64, I64, Ptr,
                             I64, I64, Ptr, I64, Ptr});
}

/// struct pacc_region.
Constant *DeviceModule::describeRegion(StringRef Name, StringRef Location) {
  LLVMContext &C = Host.getContext();
  if (!Image)
    Image = new GlobalVariable(
        Host, imageType(C), false, GlobalValue::InternalLinkage,
        Constant::getNullValue(imageType(C)), "__pacc_image");
  Constant *History = Constant::getNullValue(
      ArrayType::get(Type::getInt32Ty(C), PACC_HISTORY_CLASSES));
  return ConstantStruct::getAnon({Image, createString(Name),
                                  createString(Location), History, History,
                                  ConstantFP::get(Type::getDoubleTy(C), 0)});
}

Constant *DeviceModule::createRegion(StringRef Name, StringRef Location) {
  Constant *Region = describeRegion(Name, Location);
  return new GlobalVariable(Host, Region->getType(), false,
                            GlobalValue::PrivateLinkage, Region,
                            "__pacc_region");
}

Constant *DeviceModule::createSpan(StringRef Name, StringRef Location) {
  Constant *Zero = ConstantInt::get(Type::getInt32Ty(Host.getContext()), 0);
  Constant *Span =
      ConstantStruct::getAnon({describeRegion(Name, Location), Zero, Zero});
  return new GlobalVariable(Host, Span->getType(), false,
                            GlobalValue::PrivateLinkage, Span, "__pacc_span");
}

/// struct pacc_kernel.
Constant *DeviceModule::describeKernel(const KernelInfo &K) {
  LLVMContext &Ctx = Host.getContext();
  Type *I32 = Type::getInt32Ty(Ctx);
  SmallVector<uint32_t, 16> Sizes;
  for (const Argument &Arg : K.F->args())
    Sizes.push_back(Device->getDataLayout().getTypeStoreSize(Arg.getType()));
  Constant *Null = ConstantPointerNull::get(PointerType::get(Ctx, 0));
  Constant *SizeTable =
      Sizes.empty() ? Null : createData(ConstantDataArray::get(Ctx, Sizes));
  auto Block = [&](const uint32_t Shape[3]) {
    return ConstantDataArray::get(Ctx, ArrayRef<uint32_t>(Shape, 3));
  };
  SmallVector<Constant *, 2> Smaller;
  for (const pacc_sized_block &S : K.Choice.Smaller)
    Smaller.push_back(ConstantStruct::getAnon(
        {ConstantInt::get(Type::getInt64Ty(Ctx), S.threads_sm),
         Block(S.block)}));
  Constant *SmallerTable =
      Smaller.empty()
          ? Null
          : createData(ConstantArray::get(
                ArrayType::get(Smaller[0]->getType(), Smaller.size()),
                Smaller));
  return ConstantStruct::getAnon(
      {createString(K.F->getName()), createString(K.Label),
       ConstantInt::get(I32, K.Work.Dims), Block(K.Choice.Block),
       ConstantInt::get(I32, maxThreads(K)),
       ConstantInt::get(I32, Smaller.size()), SmallerTable,
       ConstantInt::get(I32, 0), ConstantInt::get(I32, Sizes.size()),
       SizeTable});
}

void DeviceModule::embed(const Code &C) {
  LLVMContext &Ctx = Host.getContext();
  Type *I32 = Type::getInt32Ty(Ctx), *I64 = Type::getInt64Ty(Ctx);
  auto Number = [&](uint64_t N) { return ConstantInt::get(I64, N); };
  Constant *Null = ConstantPointerNull::get(PointerType::get(Ctx, 0));
  auto Binary = [&](StringRef Bytes) -> Constant * {
    if (Bytes.empty())
      return Null;
    GlobalVariable *G =
        createData(ConstantDataArray::getString(Ctx, Bytes, /*AddNull=*/false));
    G->setAlignment(Align(8));
    return G;
  };

  SmallVector<Constant *, 8> Table;
  for (const KernelInfo &K : Kernels)
    Table.push_back(describeKernel(K));
  Constant *KernelTable = ConstantArray::get(
      ArrayType::get(Table[0]->getType(), Table.size()), Table);
  Image->setInitializer(ConstantStruct::get(
      imageType(Ctx),
      {Host.getOrInsertGlobal("__pacc_rt_abi_v4", I32),
       createString(Host.getSourceFileName()), createString(Opts.Arch),
       createString(C.Ptx), Number(C.Ptx.size()), Number(fnv1a(C.Ptx)),
       Binary(C.Cubin), Number(C.Cubin.size()), Number(fnv1a(C.Cubin)),
       Binary(C.Bitcode), Number(C.Bitcode.size()), Number(fnv1a(C.Bitcode)),
       createData(KernelTable), Number(Kernels.size()), Null}));
}

} // namespace pacc
