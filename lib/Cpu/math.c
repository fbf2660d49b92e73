/* math.c: libdevice's functions by the host's own.
 *
 * Bitcode made for the CPU device declares __nv_<f> and does not hold
 * libdevice's version. Bound to the host's library, a kernel gives the very
 * bits of the loop that it was made from. Where LLVM has an intrinsic it is
 * used, since that is what clang makes of the call in the loop: both then see
 * the same simplifications.
 */
#include "hostfn.h"
#include "retarget_private.h"

#include <stdio.h>

/* Functions with an intrinsic of another name; all take and return one type. */
static const char *const intrinsics[][2] = {
    {"sqrt", "llvm.sqrt"},
    {"fabs", "llvm.fabs"},
    {"floor", "llvm.floor"},
    {"ceil", "llvm.ceil"},
    {"trunc", "llvm.trunc"},
    {"rint", "llvm.rint"},
    {"nearbyint", "llvm.nearbyint"},
    {"round", "llvm.round"},
    {"copysign", "llvm.copysign"},
    {"fma", "llvm.fma"},
    {"fmin", "llvm.minnum"},
    {"fmax", "llvm.maxnum"},
    {"exp", "llvm.exp"},
    {"exp2", "llvm.exp2"},
    {"exp10", "llvm.exp10"},
    {"log", "llvm.log"},
    {"log2", "llvm.log2"},
    {"log10", "llvm.log10"},
    {"pow", "llvm.pow"},
    {"sin", "llvm.sin"},
    {"cos", "llvm.cos"},
};

/* The intrinsic for function `name` of type `type`, or NULL. */
static LLVMValueRef find_intrinsic(struct pacc_retarget *r, const char *name,
                                   LLVMTypeRef type) {
  LLVMTypeRef result = LLVMGetReturnType(type);
  char base[32];
  snprintf(base, sizeof(base), "%s", name);
  size_t length = strlen(base);
  if (result == r->f32 && length && base[length - 1] == 'f')
    base[length - 1] = 0;
  else if (result != r->f64)
    return NULL;
  for (size_t i = 0; i < sizeof(intrinsics) / sizeof(intrinsics[0]); i++) {
    if (strcmp(intrinsics[i][0], base))
      continue;
    const char *intrinsic = intrinsics[i][1];
    unsigned id = LLVMLookupIntrinsicID(intrinsic, strlen(intrinsic));
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(r->module, id, &result, 1);
    return LLVMGlobalGetValueType(f) == type ? f : NULL;
  }
  return NULL;
}

LLVMValueRef pacc_retarget_math(struct pacc_retarget *r, LLVMValueRef callee) {
  static const char prefix[] = "__nv_", fast[] = "fast_";
  char own[64];
  const char *name = pacc_name(callee);
  if (!pacc_starts_with(name, prefix))
    return NULL;
  name += strlen(prefix);
  if (pacc_starts_with(name, fast))
    name += strlen(fast);
  LLVMTypeRef type = LLVMGlobalGetValueType(callee);
  LLVMValueRef f = find_intrinsic(r, name, type);
  if (f)
    return f;
  snprintf(own, sizeof(own), "pacc_dev_%s", name);
  f = pacc_retarget_devfn(r, own);
  if (f)
    return LLVMGlobalGetValueType(f) == type ? f : NULL;
  if (!pacc_hostfn_find(name))
    return NULL;
  f = LLVMGetNamedFunction(r->module, name);
  if (!f)
    f = LLVMAddFunction(r->module, name, type);
  return LLVMGlobalGetValueType(f) == type ? f : NULL;
}
