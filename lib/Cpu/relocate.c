/* relocate.c: variables of a program that is compiled ahead of time. They are
 * placed when it starts: device code loads their addresses, which the runtime
 * stores, and initial values that hold addresses are listed. */
#include "retarget_private.h"

#include "image.h"
#include "status.h"

#include <stdio.h>
#include <stdlib.h>

static const char image_prefix[] = "__pacc_image.";

static int is_image(LLVMValueRef global) {
  return pacc_starts_with(pacc_name(global), image_prefix);
}

/* place.c numbers images from 1 on. */
static uint32_t number_of(LLVMValueRef image) {
  return (uint32_t)strtoul(pacc_name(image) + strlen(image_prefix), NULL, 10) -
         1;
}

/* Where the runtime stores the address of a variable. */
static LLVMValueRef place_of(struct pacc_retarget *r, uint32_t number) {
  char name[48];
  snprintf(name, sizeof(name), PACC_CPU_PLACE_FORMAT, number);
  LLVMValueRef place = LLVMGetNamedGlobal(r->module, name);
  if (place)
    return place;
  place = LLVMAddGlobal(r->module, r->ptr, name);
  LLVMSetInitializer(place, LLVMConstNull(r->ptr));
  LLVMSetVisibility(place, LLVMHiddenVisibility);
  LLVMSetExternallyInitialized(place, 1);
  return place;
}

static LLVMValueRef load_address(void *context, LLVMValueRef image) {
  struct pacc_retarget *r = context;
  LLVMValueRef address =
      LLVMBuildLoad2(r->builder, r->ptr, place_of(r, number_of(image)), "");
  unsigned kind = LLVMGetMDKindIDInContext(r->context, "invariant.load", 14);
  LLVMMetadataRef none = LLVMMDNodeInContext2(r->context, NULL, 0);
  LLVMSetMetadata(address, kind, LLVMMetadataAsValue(r->context, none));
  LLVMTypeRef type = LLVMTypeOf(image);
  return type == r->ptr ? address
                        : LLVMBuildAddrSpaceCast(r->builder, address, type, "");
}

/* -- Initial values -- */

struct walk {
  struct pacc_retarget *r;
  uint32_t variable;
};

static void note_target(void *context, LLVMValueRef image) {
  *(uint32_t *)context = number_of(image);
}

static int add_relocation(const struct walk *walk, LLVMValueRef value,
                          uint64_t offset) {
  struct pacc_retarget *r = walk->r;
  uint32_t target = 0;
  unsigned n = pacc_visit_globals(value, is_image, note_target, &target);
  if (n != 1 || LLVMABISizeOfType(r->layout, LLVMTypeOf(value)) != 8)
    return pacc_cpu_fail(PACC_CPU_ERROR_UNSUPPORTED,
                         "the initial value of variable '%s' holds an address "
                         "in a form that the CPU device does not know",
                         r->program->variables[walk->variable].name);
  struct pacc_cpu_relocation *relocation =
      pacc_cpu_program_add_relocation(r->program);
  if (!relocation)
    return pacc_cpu_fail(PACC_CPU_ERROR_OUT_OF_MEMORY,
                         "no memory for a relocation");
  *relocation = (struct pacc_cpu_relocation){walk->variable, target, offset};
  return 0;
}

/* Finds the addresses in a constant that lies `offset` bytes from the start of
 * the variable. */
static int walk_value(const struct walk *walk, LLVMValueRef value,
                      uint64_t offset) {
  if (!pacc_visit_globals(value, is_image, NULL, NULL))
    return 0;
  LLVMTypeRef type = LLVMTypeOf(value);
  LLVMTypeKind kind = LLVMGetTypeKind(type);
  LLVMTargetDataRef layout = walk->r->layout;
  if (LLVMIsAConstantExpr(value) || LLVMIsAGlobalVariable(value))
    return add_relocation(walk, value, offset);
  for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(value); i++) {
    uint64_t at = kind == LLVMStructTypeKind
                      ? LLVMOffsetOfElement(layout, type, i)
                      : i * LLVMABISizeOfType(layout, LLVMGetElementType(type));
    int status = walk_value(walk, LLVMGetOperand(value, i), offset + at);
    if (status)
      return status;
  }
  return 0;
}

int pacc_retarget_relocations(struct pacc_retarget *r) {
  struct pacc_expansion expansion = {is_image, NULL, load_address, r};
  int status = pacc_expand_uses(r, &expansion);
  for (LLVMValueRef g = LLVMGetFirstGlobal(r->module); g && !status;
       g = LLVMGetNextGlobal(g)) {
    if (!is_image(g))
      continue;
    struct walk walk = {r, number_of(g)};
    status = walk_value(&walk, LLVMGetInitializer(g), 0);
  }
  return status;
}
