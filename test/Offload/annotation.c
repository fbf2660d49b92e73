/* A function's own block stands before the option.
 * RUN: %pacc_cc -mllvm -polly-acc-block-size=32x8 -c %s -o %t.o -Rpass=polly-acc 2>&1 | FileCheck %s
 * CHECK: kernel 'given_scop{{.*}}': 2-dimensional grid, block 64x4 (annotation)
 * CHECK: kernel 'other_scop{{.*}}': 2-dimensional grid, block 32x8 (option)
 *
 * What is no shape is an error.
 * RUN: not %pacc_cc -DBAD=polly-acc-block=64x -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=BAD
 * BAD: error: polly-acc: invalid value '64x' of option 'block-size'
 * RUN: not %pacc_cc -DBAD=polly-acc-block=auto -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=AUTO
 * AUTO: error: polly-acc: annotation 'polly-acc-block=auto' names no shape
 */
#define TEXT(x) #x
#define STRING(x) TEXT(x)
#ifndef BAD
#define BAD unrelated
#endif

__attribute__((annotate("unrelated"), annotate("polly-acc-block=64x4"))) void
given(double (*restrict a)[1024]) {
  for (int i = 0; i < 1024; i++)
    for (int j = 0; j < 1024; j++)
      a[i][j] *= 2;
}

__attribute__((annotate(STRING(BAD)))) void other(double (*restrict a)[1024]) {
  for (int i = 0; i < 1024; i++)
    for (int j = 0; j < 1024; j++)
      a[i][j] *= 2;
}
