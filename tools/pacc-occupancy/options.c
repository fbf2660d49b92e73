/* options.c: reads the command line of pacc-occupancy. */
#include "options.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "Usage: pacc-occupancy --arch ARCH --regs N [options]\n"
    "\n"
    "How many blocks of a kernel one multiprocessor of a GPU holds.\n"
    "\n"
    "  --arch ARCH        sm_90, sm_90a, compute_90 or 9.0; --list names all\n"
    "  --regs N           registers per thread (ptxas -v tells them)\n"
    "  --smem BYTES       static shared memory per block (0)\n"
    "  --dynamic BYTES    dynamic shared memory per block (0)\n"
    "  --opt-in BYTES     what the kernel raised its dynamic limit to\n"
    "                     (cudaFuncAttributeMaxDynamicSharedMemorySize)\n"
    "  --carveout PERCENT shared memory preferred over L1 cache, 0 to 100\n"
    "  --barriers N       named barriers per block (1)\n"
    "  --launch-bound N   largest block the kernel was compiled for\n"
    "  --block N          this block size alone, in threads\n"
    "  --json             JSON on standard output\n"
    "  --list             the architectures, one per line\n"
    "  --help, --version\n"
    "\n"
    "BYTES may end in K (1,024 bytes). Exit status: 0; 1 if no block size,\n"
    "or not the one that is asked for, can run; 2 for a bad command line.\n";

enum option_id {
  OPT_ARCH = 256,
  OPT_REGS,
  OPT_SMEM,
  OPT_DYNAMIC,
  OPT_OPT_IN,
  OPT_CARVEOUT,
  OPT_BARRIERS,
  OPT_BOUND,
  OPT_BLOCK,
  OPT_JSON,
  OPT_LIST,
  OPT_HELP,
  OPT_VERSION,
};

static const struct option long_options[] = {
    {"arch", required_argument, NULL, OPT_ARCH},
    {"regs", required_argument, NULL, OPT_REGS},
    {"smem", required_argument, NULL, OPT_SMEM},
    {"dynamic", required_argument, NULL, OPT_DYNAMIC},
    {"opt-in", required_argument, NULL, OPT_OPT_IN},
    {"carveout", required_argument, NULL, OPT_CARVEOUT},
    {"barriers", required_argument, NULL, OPT_BARRIERS},
    {"launch-bound", required_argument, NULL, OPT_BOUND},
    {"block", required_argument, NULL, OPT_BLOCK},
    {"json", no_argument, NULL, OPT_JSON},
    {"list", no_argument, NULL, OPT_LIST},
    {"help", no_argument, NULL, OPT_HELP},
    {"version", no_argument, NULL, OPT_VERSION},
    {NULL, 0, NULL, 0},
};

/* A whole number in [min, max], with K for 1,024 if bytes is set. */
static bool number(const char *name, const char *text, uint32_t min,
                   uint32_t max, bool bytes, uint32_t *value) {
  char *end = NULL;
  uint64_t n = 0;
  bool good = *text >= '0' && *text <= '9' && strlen(text) < 16;
  if (good) {
    n = strtoull(text, &end, 10);
    if (bytes && (*end == 'K' || *end == 'k')) {
      n *= 1024;
      end++;
    }
    good = *end == '\0' && n >= min && n <= max;
  }
  if (!good) {
    fprintf(stderr,
            "pacc-occupancy: --%s %s: not a whole number from %" PRIu32
            " to %" PRIu32 "%s\n",
            name, text, min, max, bytes ? " bytes" : "");
    return false;
  }
  *value = (uint32_t)n;
  return true;
}

static void print_list(FILE *file, const char *separator) {
  for (size_t i = 0; pacc_gpu_at(i); i++)
    fprintf(file, "%s%s", i ? separator : "", pacc_gpu_at(i)->arch);
  fputc('\n', file);
}

static bool set_arch(const char *text, struct occ_options *options) {
  options->gpu = pacc_gpu_find(text);
  if (options->gpu)
    return true;
  fprintf(stderr, "pacc-occupancy: --arch %s: unknown; known are ", text);
  print_list(stderr, ", ");
  return false;
}

static bool set_option(int id, const char *text, struct occ_options *options) {
  struct pacc_resources *r = &options->resources;
  const uint32_t most_smem = 1 << 20;
  uint32_t percent;
  switch (id) {
  case OPT_ARCH:
    return set_arch(text, options);
  case OPT_REGS:
    return number("regs", text, 1, 255, false, &r->regs);
  case OPT_SMEM:
    return number("smem", text, 0, most_smem, true, &r->smem_static);
  case OPT_DYNAMIC:
    return number("dynamic", text, 0, most_smem, true, &r->smem_dynamic);
  case OPT_OPT_IN:
    return number("opt-in", text, 1, most_smem, true, &r->smem_limit);
  case OPT_CARVEOUT:
    if (!number("carveout", text, 0, 100, false, &percent))
      return false;
    r->carveout = (int32_t)percent;
    return true;
  case OPT_BARRIERS:
    return number("barriers", text, 0, 16, false, &r->barriers);
  case OPT_BOUND:
    return number("launch-bound", text, 1, 1024, false, &r->max_threads);
  case OPT_BLOCK:
    return number("block", text, 1, 1024, false, &options->block);
  case OPT_JSON:
    options->json = true;
    return true;
  default:
    return false;
  }
}

static enum occ_parse bad(const char *message) {
  fprintf(stderr, "pacc-occupancy: %s (--help shows the options)\n", message);
  return OCC_BAD;
}

enum occ_parse occ_options_parse(int argc, char **argv,
                                 struct occ_options *options) {
  memset(options, 0, sizeof *options);
  options->resources.carveout = PACC_CARVEOUT_DEFAULT;
  options->resources.barriers = 1;
  argv[0] = "pacc-occupancy"; /* how getopt's messages begin */
  int id;
  while ((id = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
    switch (id) {
    case '?': /* getopt has said what is wrong */
      return OCC_BAD;
    case OPT_HELP:
      fputs(usage, stdout);
      return OCC_DONE;
    case OPT_VERSION:
      printf("pacc-occupancy %s\n", PACC_VERSION);
      return OCC_DONE;
    case OPT_LIST:
      print_list(stdout, "\n");
      return OCC_DONE;
    default:
      if (!set_option(id, optarg, options))
        return OCC_BAD;
    }
  }
  if (optind < argc)
    return bad("arguments without an option are not understood");
  if (!options->gpu)
    return bad("--arch is missing");
  if (!options->resources.regs)
    return bad("--regs is missing");
  return OCC_RUN;
}
