/* pacc-cpu-link: the device code of CUDA objects as one object for the host.
 *
 *   pacc-cpu-link [--no-checks] -o device.o FILE...
 *
 * The files are objects and archives that `polly-acc-clang++ --device=cpu -c`
 * made; others are passed over. Their bitcode is linked, retargeted
 * (lib/Cpu) and compiled. The wrapper links the result into the program.
 *   --no-checks   leave wrong accesses to the guard pages
 */
#include "module.h"
#include "objects.h"
#include "retarget.h"
#include "status.h"

#include <llvm-c/Linker.h>

#include <stdio.h>
#include <string.h>

/* arch: of the images that are linked, the first that was met; found: whether
 * the current file holds one. */
struct link {
  LLVMContextRef context;
  LLVMModuleRef module;
  char arch[32];
  int n_images, found;
};

static int link_image(void *opaque, const char *name, int kind,
                      const char *arch, const void *bytes, size_t size) {
  struct link *link = opaque;
  link->n_images++;
  if (kind != PACC_IMAGE_BITCODE)
    return pacc_cpu_fail(PACC_CPU_ERROR_INVALID_IMAGE,
                         "%s was compiled for a GPU: compile it with "
                         "polly-acc-clang++ --device=cpu",
                         name);
  if (!*link->arch)
    snprintf(link->arch, sizeof(link->arch), "%s", arch);
  if (strcmp(link->arch, arch) != 0)
    return 0;
  link->found = 1;
  LLVMModuleRef module;
  int status = pacc_module_read(link->context, bytes, size, &module);
  if (status)
    return status;
  if (!link->module) {
    link->module = module;
    return 0;
  }
  char text[PACC_CPU_DETAIL_SIZE];
  pacc_module_watch(link->context, text);
  int failed = LLVMLinkModules2(link->module, module);
  pacc_module_unwatch(link->context);
  return failed ? pacc_cpu_fail(PACC_CPU_ERROR_INVALID_IMAGE,
                                "cannot link the device code of %s: %s", name,
                                text)
                : 0;
}

static int link_file(struct link *link, const char *path) {
  link->n_images = link->found = 0;
  int status = pacc_objects_read(path, link_image, link);
  if (!status && link->n_images && !link->found)
    status = pacc_cpu_fail(PACC_CPU_ERROR_INVALID_IMAGE,
                           "%s holds no device code for %s, as other files do",
                           path, link->arch);
  return status;
}

static int compile(struct link *link, int check, const char *output) {
  LLVMTargetMachineRef machine = pacc_module_machine(LLVMCodeModelDefault);
  if (!machine)
    return PACC_CPU_ERROR_COMPILE;
  struct pacc_retarget_options options = {.machine = machine, .check = check};
  struct pacc_cpu_program program = {0};
  int status = pacc_retarget(link->module, &options, &program);
  if (!status)
    status = pacc_retarget_emit(link->module, machine, &program, output);
  pacc_cpu_program_clear(&program);
  LLVMDisposeTargetMachine(machine);
  return status;
}

int main(int argc, char **argv) {
  struct link link = {.context = LLVMContextCreate()};
  const char *output = NULL;
  int check = 1, status = 0;
  for (int i = 1; i < argc && !status; i++) {
    if (!strcmp(argv[i], "--no-checks"))
      check = 0;
    else if (!strcmp(argv[i], "-o") && i + 1 < argc)
      output = argv[++i];
    else
      status = link_file(&link, argv[i]);
  }
  if (!status && !output)
    status = pacc_cpu_fail(PACC_CPU_ERROR_INVALID_VALUE, "-o FILE is missing");
  if (!status && !link.module) { /* a program without kernels */
    link.module = LLVMModuleCreateWithNameInContext("none", link.context);
    LLVMSetTarget(link.module, "nvptx64-nvidia-cuda");
  }
  if (!status)
    status = compile(&link, check, output);
  if (status)
    fprintf(stderr, "pacc-cpu-link: error: %s\n", pacc_cpu_detail());
  if (link.module)
    LLVMDisposeModule(link.module);
  LLVMContextDispose(link.context);
  return status != 0;
}
