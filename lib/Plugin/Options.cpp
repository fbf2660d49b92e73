//===- Options.cpp - Options of the plugin --------------------------------===//
#include "Options.h"

#include "pacc/model.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace pacc {

static cl::OptionCategory Category("Polly-ACC options");

static cl::opt<bool> Enable("polly-acc",
                            cl::desc("Offload affine loop nests to the GPU"),
                            cl::cat(Category));

static cl::opt<bool>
    EnableBlocks("polly-acc-blocks",
                 cl::desc("Remarks on occupancy and memory accesses of CUDA "
                          "kernels (-Rpass-analysis=polly-acc-blocks)"),
                 cl::cat(Category));

#define PACC_FLAG(id, name, value, help)                                       \
  static cl::opt<bool> Opt##id("polly-acc-" name, cl::desc(help),              \
                               cl::init(value), cl::cat(Category));
#define PACC_NUMBER(id, name, value, help)                                     \
  static cl::opt<uint64_t> Opt##id("polly-acc-" name, cl::desc(help),          \
                                   cl::init(value), cl::cat(Category));
#define PACC_STRING(id, name, value, values, help)                             \
  static cl::opt<std::string> Opt##id("polly-acc-" name, cl::desc(help),       \
                                      cl::value_desc(values), cl::init(value), \
                                      cl::cat(Category));
#include "pacc/options.def"

static cl::alias OptMinCompute("polly-acc-mincompute",
                               cl::desc("Polly-ACC's name of "
                                        "-polly-acc-min-work"),
                               cl::aliasopt(OptMinWork), cl::cat(Category));

bool isOffloadEnabled() { return Enable; }
bool areBlocksWanted() { return EnableBlocks; }

Options Options::fromCommandLine() {
  Options O;
#define PACC_FLAG(id, name, value, help) O.id = Opt##id;
#define PACC_NUMBER(id, name, value, help) O.id = Opt##id;
#define PACC_STRING(id, name, value, values, help) O.id = Opt##id;
#include "pacc/options.def"
  return O;
}

static Error invalid(const Twine &Message) {
  return createStringError(inconvertibleErrorCode(), Message);
}

static Error badValue(StringRef Name, StringRef Value, const Twine &Legal) {
  return invalid("polly-acc: invalid value '" + Value + "' of option '" + Name +
                 "', expected " + Legal);
}

static Error setNumber(uint64_t &Target, StringRef Name, StringRef Value) {
  if (Value.getAsInteger(10, Target))
    return badValue(Name, Value, "a whole number");
  return Error::success();
}

Error Options::parse(StringRef Parameters) {
  while (!Parameters.empty()) {
    StringRef Item;
    std::tie(Item, Parameters) = Parameters.split(';');
    auto [Name, Value] = Item.split('=');
    bool Known = false;
#define PACC_FLAG(id, name, value, help)                                       \
  if (Item == name || Item == "no-" name) {                                    \
    id = Item == name;                                                         \
    Known = true;                                                              \
  }
#define PACC_NUMBER(id, name, value, help)                                     \
  if (Name == name) {                                                          \
    if (Error E = setNumber(id, Name, Value))                                  \
      return E;                                                                \
    Known = true;                                                              \
  }
#define PACC_STRING(id, name, value, values, help)                             \
  if (Name == name) {                                                          \
    id = Value.str();                                                          \
    Known = true;                                                              \
  }
#include "pacc/options.def"
    if (!Known) {
      std::string Names;
#define PACC_FLAG(id, name, value, help) Names += " " name;
#define PACC_NUMBER(id, name, value, help) Names += " " name;
#define PACC_STRING(id, name, value, values, help) Names += " " name;
#include "pacc/options.def"
      return invalid("polly-acc: unknown parameter '" + Item +
                     "', known are:" + Names);
    }
  }
  return validate();
}

Expected<BlockShape> parseBlockShape(StringRef Text) {
  BlockShape Shape;
  if (Text == "auto" || Text == "api" || Text == "paper" || Text == "sweep")
    return Shape;
  SmallVector<StringRef, 3> Parts;
  Text.split(Parts, 'x');
  unsigned Sizes[3] = {0, 1, 1};
  bool Bad = Parts.empty() || Parts.size() > 3;
  for (unsigned I = 0; !Bad && I < Parts.size(); ++I)
    Bad = Parts[I].getAsInteger(10, Sizes[I]) || Sizes[I] == 0;
  // CUDA C++ Programming Guide, "Technical Specifications per Compute
  // Capability": 1,024 threads per block; 1,024 x 1,024 x 64 per dimension.
  if (Bad || Sizes[0] > 1024 || Sizes[1] > 1024 || Sizes[2] > 64 ||
      uint64_t(Sizes[0]) * Sizes[1] * Sizes[2] > 1024)
    return badValue(
        "block-size", Text,
        "auto, api, paper, sweep, or WxHxD with at most 1024 threads");
  Shape.X = Sizes[0];
  Shape.Y = Sizes[1];
  Shape.Z = Sizes[2];
  return Shape;
}

Error Options::validate() const {
  for (auto &[Name, Value] : {std::pair<StringRef, StringRef>{"fma", Fma},
                              {"embed-bitcode", EmbedBitcode},
                              {"ptxas", Ptxas},
                              {"keep-data", KeepData}})
    if (Value != "on" && Value != "off")
      return badValue(Name, Value, "on or off");
  if (auto Shape = parseBlockShape(BlockSize); !Shape)
    return Shape.takeError();
  if (Memory != "copy" && Memory != "managed")
    return badValue("memory", Memory, "copy or managed");
  if (Persistent != "auto" && Persistent != "always" && Persistent != "off")
    return badValue("persistent", Persistent, "auto, always or off");
  uint64_t Instances;
  if (MinWork != "auto" && MinWork != "always" &&
      StringRef(MinWork).getAsInteger(10, Instances))
    return badValue("min-work", MinWork, "auto, always or a whole number");
  unsigned Tile;
  if (ThreadTile != "auto" &&
      (StringRef(ThreadTile).getAsInteger(10, Tile) || Tile < 1 || Tile > 16))
    return badValue("thread-tile", ThreadTile, "auto or 1 to 16");
  if (!pacc_gpu_find(Arch.c_str()))
    return badValue("arch", Arch, "one of sm_70 ... sm_121");
  if (std::string Problem;
      !OnlyFunc.empty() && !Regex(OnlyFunc).isValid(Problem))
    return badValue("only-func", OnlyFunc,
                    "a regular expression (" + Problem + ")");
  return Error::success();
}

void Options::print(raw_ostream &OS) const {
  const Options Defaults;
  StringRef Separator;
  auto Item = [&]() -> raw_ostream & {
    OS << Separator;
    Separator = ";";
    return OS;
  };
#define PACC_FLAG(id, name, value, help)                                       \
  if (id != Defaults.id)                                                       \
    Item() << (id ? "" : "no-") << name;
#define PACC_NUMBER(id, name, value, help)                                     \
  if (id != Defaults.id)                                                       \
    Item() << name "=" << id;
#define PACC_STRING(id, name, value, values, help)                             \
  if (id != Defaults.id)                                                       \
    Item() << name "=" << id;
#include "pacc/options.def"
}

} // namespace pacc
