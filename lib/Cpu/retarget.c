/* retarget.c: the steps from an NVPTX module to an optimised host module. */
#include "retarget_private.h"

#include "module.h"
#include "status.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <stdlib.h>

static int verify(LLVMModuleRef module, int status, const char *when) {
  char *message = NULL;
  int broken = LLVMVerifyModule(module, LLVMReturnStatusAction, &message);
  if (broken)
    pacc_cpu_fail(status, "%s: %s", when, message);
  LLVMDisposeMessage(message);
  return broken ? status : 0;
}

/* Without unrolling: it doubles the time to compile, and gains nothing where a
 * check stands before each access. */
static int run_passes(struct pacc_retarget *r, const char *passes) {
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMPassBuilderOptionsSetLoopUnrolling(options, 0);
  LLVMPassBuilderOptionsSetLoopInterleaving(options, 0);
  LLVMErrorRef error =
      LLVMRunPasses(r->module, passes, r->options->machine, options);
  LLVMDisposePassBuilderOptions(options);
  if (!error)
    return 0;
  char *message = LLVMGetErrorMessage(error);
  pacc_cpu_fail(PACC_CPU_ERROR_COMPILE, "passes %s: %s", passes, message);
  LLVMDisposeErrorMessage(message);
  return PACC_CPU_ERROR_COMPILE;
}

/* Attributes in words name GPU features or loosen the arithmetic. */
static int strip_strings(LLVMValueRef function, LLVMAttributeIndex index) {
  unsigned n = LLVMGetAttributeCountAtIndex(function, index), length;
  if (!n)
    return 0;
  LLVMAttributeRef *attributes = malloc(n * sizeof(*attributes));
  if (!attributes)
    return PACC_CPU_ERROR_OUT_OF_MEMORY;
  LLVMGetAttributesAtIndex(function, index, attributes);
  for (unsigned i = 0; i < n; i++) {
    if (!LLVMIsStringAttribute(attributes[i]))
      continue;
    const char *key = LLVMGetStringAttributeKind(attributes[i], &length);
    LLVMRemoveStringAttributeAtIndex(function, index, key, length);
  }
  free(attributes);
  return 0;
}

static void remove_enum(LLVMValueRef function, const char *name) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMRemoveEnumAttributeAtIndex(
      function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kind);
}

static void prepare_function(LLVMValueRef function) {
  remove_enum(function, "optnone");
  remove_enum(function, "noinline");
  if (!LLVMIsDeclaration(function)) {
    LLVMSetLinkage(function, LLVMInternalLinkage);
    LLVMSetVisibility(function, LLVMDefaultVisibility);
  }
}

/* llvm.used and the like keep things alive that nothing here refers to. */
static void drop_markers(LLVMModuleRef module) {
  static const char *const names[] = {"llvm.used", "llvm.compiler.used",
                                      "llvm.global_ctors", "llvm.global_dtors"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    LLVMValueRef global = LLVMGetNamedGlobal(module, names[i]);
    if (global)
      LLVMDeleteGlobal(global);
  }
}

/* Aliases without uses are gone after the first passes. */
static void resolve_aliases(LLVMModuleRef module) {
  for (LLVMValueRef alias = LLVMGetFirstGlobalAlias(module); alias;
       alias = LLVMGetNextGlobalAlias(alias)) {
    LLVMReplaceAllUsesWith(alias, LLVMAliasGetAliasee(alias));
    LLVMSetLinkage(alias, LLVMInternalLinkage);
  }
}

static int check_source(LLVMModuleRef module) {
  const char *triple = LLVMGetTarget(module);
  if (!pacc_starts_with(triple, "nvptx"))
    return pacc_cpu_fail(PACC_CPU_ERROR_INVALID_IMAGE,
                         "the bitcode is for '%s', not for nvptx64", triple);
  return verify(module, PACC_CPU_ERROR_INVALID_IMAGE, "invalid bitcode");
}

static void set_target(struct pacc_retarget *r) {
  char *triple = LLVMGetTargetMachineTriple(r->options->machine);
  LLVMSetTarget(r->module, triple);
  LLVMDisposeMessage(triple);
  LLVMSetModuleDataLayout(r->module, r->layout);
  LLVMSetModuleInlineAsm2(r->module, "", 0);
  LLVMStripModuleDebugInfo(r->module);
  drop_markers(r->module);
  resolve_aliases(r->module);
  PACC_EACH_FUNCTION(f, r->module) { prepare_function(f); }
}

/* After the entries, which read the limits of block sizes from attributes. */
static int strip_attributes(struct pacc_retarget *r) {
  int status = 0;
  PACC_EACH_FUNCTION(f, r->module) {
    if (!status)
      status = strip_strings(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex);
  }
  return status;
}

/* Inlining into the entries comes before lowering: ids then are values of the
 * loop over threads, and not loads. Checks come last, as vectorised loops need
 * fewer; masked accesses, which check.c does not know, are single ones then. */
static int run_steps(struct pacc_retarget *r) {
  int status = check_source(r->module);
  if (status)
    return status;
  set_target(r);
  pacc_retarget_reflect(r);
  status = pacc_retarget_entries(r);
  if (!status)
    status = strip_attributes(r);
  if (!status)
    status = run_passes(r, "always-inline,globaldce");
  if (status)
    return status;
  pacc_retarget_lower(r);
  pacc_retarget_extrema(r);
  status = pacc_retarget_variables(r);
  if (!status)
    status = pacc_retarget_shared(r);
  if (!status)
    status = pacc_retarget_suspension(r);
  if (!status)
    status = verify(r->module, PACC_CPU_ERROR_COMPILE, "after retargeting");
  if (!status)
    status = run_passes(r, "default<O2>,function(scalarize-masked-mem-intrin)");
  if (!status && r->options->check) {
    pacc_retarget_checks(r);
    status = verify(r->module, PACC_CPU_ERROR_COMPILE, "after the checks");
    if (!status)
      status = run_passes(
          r, "always-inline,function(early-cse<memssa>,simplifycfg,gvn,"
             "simplifycfg),globaldce");
  }
  return status;
}

int pacc_retarget(LLVMModuleRef module,
                  const struct pacc_retarget_options *options,
                  struct pacc_cpu_program *program) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  struct pacc_retarget r = {
      .module = module,
      .context = context,
      .builder = LLVMCreateBuilderInContext(context),
      .layout = LLVMCreateTargetDataLayout(options->machine),
      .options = options,
      .program = program,
      .i1 = LLVMInt1TypeInContext(context),
      .i8 = LLVMInt8TypeInContext(context),
      .i16 = LLVMInt16TypeInContext(context),
      .i32 = LLVMInt32TypeInContext(context),
      .i64 = LLVMInt64TypeInContext(context),
      .f32 = LLVMFloatTypeInContext(context),
      .f64 = LLVMDoubleTypeInContext(context),
      .ptr = LLVMPointerTypeInContext(context, 0),
      .nothing = LLVMVoidTypeInContext(context),
  };
  char text[PACC_CPU_DETAIL_SIZE];
  pacc_module_watch(context, text);
  int status = run_steps(&r);
  pacc_module_unwatch(context);
  if (!status && *text)
    status = pacc_cpu_fail(PACC_CPU_ERROR_COMPILE, "%s", text);
  LLVMDisposeTargetData(r.layout);
  LLVMDisposeBuilder(r.builder);
  return status;
}
