/* check.c: a check before every access of device code.
 *
 * An access is good if it begins in the region of its address's slot (arena.h)
 * at a multiple of the element's size. Both are one comparison: the distance
 * from the region's begin is rotated right, so that low bits that should be
 * zero make it huge.
 *
 * The checks go into the optimised module, as functions that are then inlined:
 * a vectorised loop has one check per vector, and equal checks are merged.
 */
#include "retarget_private.h"

#include "arena.h"
#include "image.h"

#include <stddef.h>
#include <stdio.h>

/* What the checks of one kind of access have in common. */
struct access {
  uint64_t size; /* bytes, 0: given at run time */
  unsigned align_log2;
  int write;
};

/* Locals are addressed by the compiler, as are the places of variables
 * (relocate.c), the only globals left; parameters, ids and the lists of threads
 * are the executor's. */
static int is_trusted(LLVMValueRef address) {
  for (;;) {
    if (LLVMIsAGetElementPtrInst(address) || LLVMIsAAddrSpaceCastInst(address))
      address = LLVMGetOperand(address, 0);
    else
      break;
  }
  if (LLVMIsAAllocaInst(address) || LLVMIsAGlobalVariable(address))
    return 1;
  if (!LLVMIsAArgument(address))
    return 0;
  LLVMValueRef function = LLVMGetParamParent(address);
  return LLVMGetLinkage(function) == LLVMExternalLinkage;
}

static LLVMValueRef constant(struct pacc_retarget *r, uint64_t value) {
  return LLVMConstInt(r->i64, value, 0);
}

/* Table and mask of the slots: constants, or fields of the struct that the
 * program is linked with (image.h). Those never change. */
struct slots {
  LLVMValueRef table, mask;
};

static LLVMValueRef load_field(struct pacc_retarget *r, LLVMTypeRef type,
                               unsigned offset) {
  static const char name[] = "pacc_cpu_slots";
  LLVMValueRef fields = LLVMGetNamedGlobal(r->module, name);
  if (!fields)
    fields = LLVMAddGlobal(r->module, LLVMArrayType2(r->i64, 2), name);
  LLVMValueRef index = LLVMConstInt(r->i64, offset, 0);
  LLVMValueRef place =
      LLVMBuildInBoundsGEP2(r->builder, r->i8, fields, &index, 1, "");
  LLVMValueRef value = LLVMBuildLoad2(r->builder, type, place, "");
  unsigned kind = LLVMGetMDKindIDInContext(r->context, "invariant.load", 14);
  LLVMMetadataRef none = LLVMMDNodeInContext2(r->context, NULL, 0);
  LLVMSetMetadata(value, kind, LLVMMetadataAsValue(r->context, none));
  return value;
}

static struct slots get_slots(struct pacc_retarget *r) {
  if (!r->options->place)
    return (struct slots){
        load_field(r, r->ptr, offsetof(struct pacc_cpu_slots, table)),
        load_field(r, r->i64, offsetof(struct pacc_cpu_slots, mask))};
  uint64_t n_slots = 1ull << (r->options->arena_log2 - PACC_CPU_SLOT_LOG2);
  return (struct slots){
      LLVMConstIntToPtr(constant(r, r->options->bounds), r->ptr),
      constant(r, n_slots - 1)};
}

/* Field 0 (address) or 1 (size) of the bounds of an address's slot. */
static LLVMValueRef load_bounds(struct pacc_retarget *r, LLVMValueRef number,
                                unsigned field) {
  LLVMBuilderRef b = r->builder;
  struct slots slots = get_slots(r);
  LLVMValueRef slot =
      LLVMBuildLShr(b, number, constant(r, PACC_CPU_SLOT_LOG2), "");
  slot = LLVMBuildAnd(b, slot, slots.mask, "");
  LLVMTypeRef bounds = LLVMArrayType2(r->i64, 2);
  LLVMValueRef index[2] = {slot, constant(r, field)};
  LLVMValueRef place =
      LLVMBuildInBoundsGEP2(b, bounds, slots.table, index, 2, "");
  return LLVMBuildLoad2(b, r->i64, place, "");
}

static LLVMValueRef rotate_right(struct pacc_retarget *r, LLVMValueRef value,
                                 unsigned bits) {
  unsigned id = LLVMLookupIntrinsicID("llvm.fshr", 9);
  LLVMValueRef f = LLVMGetIntrinsicDeclaration(r->module, id, &r->i64, 1);
  LLVMValueRef arguments[3] = {value, value, constant(r, bits)};
  return LLVMBuildCall2(r->builder, LLVMGlobalGetValueType(f), f, arguments, 3,
                        "");
}

/* 1 if the address is outside of its slot's region, or not aligned. */
static LLVMValueRef build_test(struct pacc_retarget *r, LLVMValueRef address,
                               unsigned align_log2) {
  LLVMBuilderRef b = r->builder;
  LLVMValueRef number = LLVMBuildPtrToInt(b, address, r->i64, "");
  LLVMValueRef distance =
      LLVMBuildSub(b, number, load_bounds(r, number, 0), "");
  LLVMValueRef size = load_bounds(r, number, 1);
  if (align_log2) {
    distance = rotate_right(r, distance, align_log2);
    size = LLVMBuildLShr(b, size, constant(r, align_log2), "");
  }
  return LLVMBuildICmp(b, LLVMIntUGE, distance, size, "");
}

static void build_failure(struct pacc_retarget *r, LLVMValueRef address,
                          LLVMValueRef size, const struct access *access) {
  LLVMValueRef f = pacc_retarget_devfn(r, "pacc_dev_fault_access");
  uint64_t flags =
      (uint64_t)(access->write != 0) | ((1ull << access->align_log2) - 1) << 1;
  LLVMValueRef arguments[3] = {address, size, LLVMConstInt(r->i32, flags, 0)};
  LLVMBuildCall2(r->builder, LLVMGlobalGetValueType(f), f, arguments, 3, "");
  LLVMBuildUnreachable(r->builder);
}

static LLVMBasicBlockRef new_block(struct pacc_retarget *r, LLVMValueRef f) {
  return LLVMAppendBasicBlockInContext(r->context, f, "");
}

/* The body of a check: void f(ptr address, i32 size). */
static void build_body(struct pacc_retarget *r, LLVMValueRef f,
                       const struct access *access) {
  LLVMBuilderRef b = r->builder;
  LLVMValueRef address = LLVMGetParam(f, 0), size = LLVMGetParam(f, 1);
  LLVMBasicBlockRef start = new_block(r, f);
  LLVMBasicBlockRef good = new_block(r, f), bad = new_block(r, f);
  if (!access->size) { /* nothing is accessed if the size is 0 */
    LLVMBasicBlockRef some = new_block(r, f);
    LLVMPositionBuilderAtEnd(b, start);
    LLVMValueRef none =
        LLVMBuildICmp(b, LLVMIntEQ, size, LLVMConstInt(r->i32, 0, 0), "");
    LLVMBuildCondBr(b, none, good, some);
    start = some;
  }
  LLVMPositionBuilderAtEnd(b, start);
  LLVMBuildCondBr(b, build_test(r, address, access->align_log2), bad, good);
  LLVMPositionBuilderAtEnd(b, bad);
  build_failure(r, address, size, access);
  LLVMPositionBuilderAtEnd(b, good);
  LLVMBuildRetVoid(b);
}

/* The function that checks accesses of this kind. */
static LLVMValueRef check_function(struct pacc_retarget *r,
                                   const struct access *access) {
  char name[48];
  snprintf(name, sizeof(name), "pacc.check.%c%u%s", access->write ? 'w' : 'r',
           access->align_log2, access->size ? "" : ".sized");
  LLVMValueRef f = LLVMGetNamedFunction(r->module, name);
  if (f)
    return f;
  LLVMTypeRef params[2] = {r->ptr, r->i32};
  f = LLVMAddFunction(r->module, name,
                      LLVMFunctionType(r->nothing, params, 2, 0));
  LLVMSetLinkage(f, LLVMInternalLinkage);
  unsigned kind = LLVMGetEnumAttributeKindForName("alwaysinline", 12);
  LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                          LLVMCreateEnumAttribute(r->context, kind, 0));
  build_body(r, f, access);
  return f;
}

/* Checks the access of an instruction at `address`; `size` is an integer of
 * any width. */
static void add_check(struct pacc_retarget *r, LLVMValueRef instruction,
                      LLVMValueRef address, LLVMValueRef size,
                      const struct access *access) {
  if (is_trusted(address))
    return;
  LLVMValueRef f = check_function(r, access);
  LLVMPositionBuilderBefore(r->builder, instruction);
  LLVMBuilderRef b = r->builder;
  if (LLVMGetPointerAddressSpace(LLVMTypeOf(address)))
    address = LLVMBuildAddrSpaceCast(b, address, r->ptr, "");
  LLVMValueRef arguments[2] = {address,
                               LLVMBuildIntCast2(b, size, r->i32, 0, "")};
  LLVMBuildCall2(b, LLVMGlobalGetValueType(f), f, arguments, 2, "");
}

static unsigned log2_of(uint64_t x) {
  return x ? 63u - (unsigned)__builtin_clzll(x) : 0;
}

/* The natural alignment of a value's elements, as far as the access promises
 * it. */
static unsigned access_align(struct pacc_retarget *r, LLVMValueRef instruction,
                             LLVMTypeRef type) {
  if (LLVMGetTypeKind(type) == LLVMVectorTypeKind)
    type = LLVMGetElementType(type);
  uint64_t size = LLVMStoreSizeOfType(r->layout, type);
  uint64_t given = LLVMGetAlignment(instruction);
  if (size & (size - 1))
    size = 1;
  return log2_of(size < given ? size : given);
}

static void check_value(struct pacc_retarget *r, LLVMValueRef instruction,
                        unsigned pointer, LLVMTypeRef type, int write) {
  struct access access = {.size = LLVMStoreSizeOfType(r->layout, type),
                          .align_log2 = access_align(r, instruction, type),
                          .write = write};
  if (access.size)
    add_check(r, instruction, LLVMGetOperand(instruction, pointer),
              LLVMConstInt(r->i32, access.size, 0), &access);
}

/* memcpy, memmove and memset run upwards from their start, so the guard pages
 * see the rest. */
static void check_block_operation(struct pacc_retarget *r, LLVMValueRef call) {
  LLVMValueRef size = LLVMGetOperand(call, 2);
  struct access access = {.write = 1};
  if (LLVMIsAConstantInt(size))
    access.size = LLVMConstIntGetZExtValue(size);
  if (LLVMIsAConstantInt(size) && !access.size)
    return;
  add_check(r, call, LLVMGetOperand(call, 0), size, &access);
  if (LLVMIsAMemSetInst(call))
    return;
  access.write = 0;
  add_check(r, call, LLVMGetOperand(call, 1), size, &access);
}

static void check_instruction(struct pacc_retarget *r, LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
  case LLVMLoad:
    check_value(r, i, 0, LLVMTypeOf(i), 0);
    break;
  case LLVMStore:
    check_value(r, i, 1, LLVMTypeOf(LLVMGetOperand(i, 0)), 1);
    break;
  case LLVMAtomicRMW:
  case LLVMAtomicCmpXchg:
    check_value(r, i, 0, LLVMTypeOf(LLVMGetOperand(i, 1)), 1);
    break;
  case LLVMCall:
    if (LLVMIsAMemIntrinsic(i))
      check_block_operation(r, i);
    break;
  default:
    break;
  }
}

void pacc_retarget_checks(struct pacc_retarget *r) {
  PACC_EACH_FUNCTION(f, r->module) {
    if (pacc_starts_with(pacc_name(f), "pacc.check."))
      continue;
    PACC_EACH_BLOCK(block, f)
    PACC_EACH_INSTRUCTION(i, block) { check_instruction(r, i); }
  }
}
