"""What the tests share: the folder of the scripts on the import path, and a
small suite whose kernels misbehave on demand."""

import shutil
import sys
from pathlib import Path

POLYBENCH = Path(__file__).resolve().parents[1]
if str(POLYBENCH) not in sys.path:
    sys.path.insert(0, str(POLYBENCH))

CLANG = "/usr/lib/llvm-22/bin/clang"
HAS_CLANG = Path(CLANG).exists()

HEADER = """
#include "polybench_data.h"
#ifndef N
#define N POLYBENCH_DATASET(10, 20, 30, 40, 50)
#endif
#define _PB_N POLYBENCH_LOOP_BOUND(N, n)
"""

# DEMO_FAULT=NAME:what, where NAME is the kernel that is to have the fault.
SOURCE = """
#include <polybench.h>
#include <string.h>
#include <unistd.h>
#include "@.h"

static void print_array(int n, const double *a) {
  POLYBENCH_DUMP_START;
  POLYBENCH_DUMP_BEGIN("a");
  for (int i = 0; i < n; i++)
    POLYBENCH_DUMP_VALUE(i, a[i]);
  POLYBENCH_DUMP_END("a");
  POLYBENCH_DUMP_FINISH;
}

int main(int argc, char **argv) {
  const char *fault = getenv("DEMO_FAULT");
  const char *name = "@:";
  double a[N];
  int n = N;
  fault = fault && !strncmp(fault, name, strlen(name))
              ? fault + strlen(name) : "";
  polybench_each_run {
    polybench_start_instruments;
    for (int i = 0; i < n; i++)
      a[i] = i * 0.25;
    polybench_stop_instruments;
    polybench_print_instruments;
  }
  if (!strcmp(fault, "wrong"))
    a[3] += 1;
  if (!strcmp(fault, "short"))
    n--;
  if (!strcmp(fault, "sleep"))
    sleep(60);
  if (!strcmp(fault, "crash"))
    abort();
  if (!strcmp(fault, "exit")) {
    fprintf(stderr, "out of luck\\n");
    return 7;
  }
  polybench_prevent_dce(print_array(n, a));
  return 0;
}
"""


def make_suite(folder, names=("one", "two")):
    """A suite with the layout of this project and these kernels."""
    folder = Path(folder)
    shutil.copytree(POLYBENCH / "common", folder / "common")
    for name in names:
        kernel = folder / "kernels" / name
        kernel.mkdir(parents=True)
        (kernel / f"{name}.c").write_text(SOURCE.replace("@", name))
        (kernel / f"{name}.h").write_text(HEADER)
    return folder
