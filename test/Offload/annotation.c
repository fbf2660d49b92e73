/* A function's own block stands before the option, a file's before both.
 * RUN: %pacc_cc -mllvm -polly-acc-block-size=32x8 -c %s -o %t.o -Rpass=polly-acc 2>&1 | FileCheck %s
 * CHECK: kernel 'given_scop{{.*}}': 2-dimensional grid, block 64x4 (annotation)
 * CHECK: kernel 'other_scop{{.*}}': 2-dimensional grid, block 32x8 (option)
 *
 * RUN: echo '# the second one' > %t.blocks
 * RUN: echo >> %t.blocks
 * RUN: echo ' other_scop1_kernel0   128x2 # wide' >> %t.blocks
 * RUN: echo 'unknown 1x32' >> %t.blocks
 * RUN: %pacc_cc -mllvm -polly-acc-block-size=32x8 -mllvm -polly-acc-block-file=%t.blocks -c %s -o %t.o -Rpass=polly-acc 2>&1 | FileCheck %s --check-prefix=FILE
 * FILE: kernel 'given_scop{{.*}}': 2-dimensional grid, block 64x4 (annotation)
 * FILE: kernel 'other_scop1_kernel0': 2-dimensional grid, block 128x2 (file)
 *
 * A kernel that a function with kernels lacks is most likely misspelt.
 * RUN: echo 'other_scop1_kernel7 1x32' >> %t.blocks
 * RUN: %pacc_cc -mllvm -polly-acc-block-file=%t.blocks -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=WRONG --implicit-check-not=unknown
 * WRONG: warning: polly-acc: {{.*}}.blocks: there is no kernel 'other_scop1_kernel7'
 * WRONG-NEXT: 1 warning generated
 *
 * What is no shape is an error.
 * RUN: echo 'other_scop1_kernel0 64x' >> %t.blocks
 * RUN: not %pacc_cc -mllvm -polly-acc-block-file=%t.blocks -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=LINE
 * LINE: error: polly-acc: {{.*}}.blocks:6: expected the name of a kernel and WxHxD
 * RUN: not %pacc_cc -mllvm -polly-acc-block-file=%t.none -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=NONE
 * NONE: error: polly-acc: cannot read {{.*}}.none: No such file or directory
 * RUN: not %pacc_cc -DBAD=polly-acc-block=64x -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=BAD
 * BAD: annotation.c:[[#@LINE+17]]:{{.*}} error: polly-acc: invalid value '64x' of option 'block-size'
 * RUN: not %pacc_cc -DBAD=polly-acc-block=auto -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=AUTO
 * AUTO: {{.*}} error: polly-acc: annotation 'polly-acc-block=auto' names no shape
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
