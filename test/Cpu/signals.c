/* A program with a handler of its own for SIGSEGV keeps it, before and after
 * offloaded loops; a crash without one is a crash.
 *
 * RUN: %pacc_cc %s -o %t %rtlib
 * RUN: env PACC_DEVICE=cpu PACC_LOG=info %t 2>&1 | FileCheck %s
 * CHECK: using CPU device
 * CHECK: handled 2
 * RUN: not --crash env PACC_DEVICE=cpu %t crash
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

enum { N = 200 };
static int a[N];
static sigjmp_buf back;
static volatile int handled;

__attribute__((noinline)) static void fill(int n) {
  for (int i = 0; i < n; i++)
    a[i] = i;
}

static void on_fault(int signal) {
  (void)signal;
  handled++;
  siglongjmp(back, 1);
}

static void fault(void) {
  if (!sigsetjmp(back, 1))
    *(volatile int *)16 = 1;
}

int main(int argc, char **argv) {
  (void)argv;
  if (argc == 1)
    signal(SIGSEGV, on_fault);
  if (argc == 1)
    fault();
  fill(N);
  fault();
  printf("handled %d\n", handled);
  return a[N - 1] != N - 1;
}
