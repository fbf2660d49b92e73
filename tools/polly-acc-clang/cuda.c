/* cuda.c: clang's flags for CUDA with launches from kernels. */
#include "cuda.h"
#include "locate.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The last argument that starts with `prefix`, behind it; or NULL. */
static const char *value_of(const struct pacc_arguments *list,
                            const char *prefix) {
  size_t length = strlen(prefix);
  for (size_t i = list->count; i-- > 0;)
    if (!strncmp(list->items[i], prefix, length))
      return list->items[i] + length;
  return NULL;
}

static bool contains(const struct pacc_arguments *list, const char *text) {
  for (size_t i = 0; i < list->count; i++)
    if (!strcmp(list->items[i], text))
      return true;
  return false;
}

/* The head of device code in an object: LLVM's OffloadBinary, version 1. */
struct offload_head {
  unsigned char magic[4];
  uint32_t version;
  uint64_t bytes;
  uint64_t entry;
};

static bool contains_device_code(const unsigned char *data, size_t size) {
  static const unsigned char magic[] = {0x10, 0xff, 0x10, 0xad};
  const unsigned char *end = data + size;
  for (const unsigned char *at = data;
       (at = memmem(at, (size_t)(end - at), magic, sizeof(magic))); at++) {
    struct offload_head head;
    if ((size_t)(end - at) < sizeof(head))
      return false;
    memcpy(&head, at, sizeof(head));
    if (head.version == 1 && head.bytes <= (size_t)(end - at) &&
        head.entry == 32)
      return true;
  }
  return false;
}

/* Of an object, or of an archive, which holds its objects as they are. */
static bool has_device_code(const char *path) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status;
  bool found = false;
  if (file >= 0 && !fstat(file, &status) && S_ISREG(status.st_mode) &&
      status.st_size > 0) {
    size_t size = (size_t)status.st_size;
    void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (data != MAP_FAILED) {
      found = contains_device_code(data, size);
      munmap(data, size);
    }
  }
  if (file >= 0)
    close(file);
  return found;
}

static bool links_device_code(const struct pacc_command *command) {
  for (size_t i = 0; command->links && i < command->objects.count; i++)
    if (has_device_code(command->objects.items[i]))
      return true;
  return false;
}

bool pacc_cuda_is_used(const struct pacc_command *command) {
  return command->cuda || links_device_code(command);
}

static const char *toolkit_of(const struct pacc_arguments *user) {
  const char *toolkit = value_of(user, "--cuda-path=");
  if (!toolkit && !pacc_cuda_version(&toolkit))
    pacc_fail("there is no CUDA toolkit; install one, and give its folder as "
              "--cuda-path=DIR or in CUDA_PATH if it is not /usr/local/cuda");
  return toolkit;
}

static bool is_relocatable(const struct pacc_arguments *user) {
  return contains(user, "-fgpu-rdc") || !contains(user, "-fno-gpu-rdc");
}

void pacc_cuda_add_front(struct pacc_arguments *to,
                         const struct pacc_arguments *user,
                         const struct pacc_command *command) {
  const char *toolkit = toolkit_of(user);
  pacc_arguments_format(to, "--cuda-path=%s", toolkit);
  /* Clang 22 is older than CUDA 13. */
  pacc_arguments_add(to, "-Wno-unknown-cuda-version");
  if (!command->cuda)
    return;
  /* CUDA's headers want their C++ library, which is a folder below since 13. */
  pacc_arguments_format(to, "-I%s/include/cccl", toolkit);
  const char *arch = value_of(user, "-polly-acc-arch=");
  if (!value_of(user, "--cuda-gpu-arch=") && !value_of(user, "--offload-arch="))
    pacc_arguments_format(to, "--cuda-gpu-arch=%s", arch ? arch : "sm_90");
  if (!is_relocatable(user))
    return;
  pacc_arguments_add(to, "-fgpu-rdc");
  /* nvcc defines it and clang does not. Without it CUDA 13's headers turn
   * device functions of the runtime into ones that always fail. */
  pacc_arguments_add(to, "-D__CUDACC_RDC__");
}

static const char *library_folder(const char *toolkit) {
  static const char *const folders[] = {"lib64", "lib",
                                        "targets/x86_64-linux/lib"};
  for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
    char *folder = pacc_format("%s/%s", toolkit, folders[i]);
    const char *library = pacc_format("%s/libcudadevrt.a", folder);
    if (!access(library, R_OK))
      return folder;
  }
  pacc_fail("the CUDA toolkit in %s has no libcudadevrt.a; install CUDA's "
            "runtime for development",
            toolkit);
}

void pacc_cuda_add_libraries(struct pacc_arguments *to,
                             const struct pacc_arguments *user,
                             const struct pacc_command *command) {
  if (!command->links)
    return;
  const char *folder = library_folder(toolkit_of(user));
  if (!command->cuda || is_relocatable(user)) {
    /* Without it clang links objects without their device code, and without a
     * word. With a CUDA source it knows. */
    if (!command->cuda)
      pacc_arguments_add(to, "--offload-link");
    pacc_arguments_add(to, "-Xoffload-linker");
    pacc_arguments_format(to, "-L%s", folder);
    pacc_arguments_add(to, "-Xoffload-linker");
    pacc_arguments_add(to, "-lcudadevrt");
  }
  pacc_arguments_format(to, "-L%s", folder);
  static const char *const libraries[] = {"-lcudart_static", "-ldl", "-lrt",
                                          "-lpthread"};
  for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
    pacc_arguments_add(to, libraries[i]);
}
