/* fiber.c: switching stacks, in assembly for x86-64 and AArch64, with
 * ucontext elsewhere (about 50 times slower: it makes a system call).
 *
 * The assembly saves the registers that the calling convention preserves, on
 * the stack, and keeps nothing but the stack pointer. A fresh stack is laid
 * out as if it had been saved: its first switch 'returns' to a trampoline that
 * finds function and argument in two preserved registers. */
#include "fiber.h"

#include <stdint.h>

#if defined(__x86_64__) && !defined(PACC_FIBER_UCONTEXT)

__asm__(".text\n"
        ".p2align 4\n"
        ".hidden pacc_fiber_switch\n"
        ".globl pacc_fiber_switch\n"
        ".type pacc_fiber_switch, @function\n"
        "pacc_fiber_switch:\n"
        "  pushq %rbp\n"
        "  pushq %rbx\n"
        "  pushq %r12\n"
        "  pushq %r13\n"
        "  pushq %r14\n"
        "  pushq %r15\n"
        "  movq %rsp, (%rdi)\n"
        "  movq %rsi, %rsp\n"
        "  popq %r15\n"
        "  popq %r14\n"
        "  popq %r13\n"
        "  popq %r12\n"
        "  popq %rbx\n"
        "  popq %rbp\n"
        "  retq\n"
        ".size pacc_fiber_switch, .-pacc_fiber_switch\n"
        ".p2align 4\n"
        ".hidden pacc_fiber_enter\n"
        ".globl pacc_fiber_enter\n"
        ".type pacc_fiber_enter, @function\n"
        "pacc_fiber_enter:\n"
        "  movq %r13, %rdi\n"
        "  xorl %ebp, %ebp\n"
        "  callq *%r12\n"
        "  ud2\n"
        ".size pacc_fiber_enter, .-pacc_fiber_enter\n");

void pacc_fiber_enter(void);

void *pacc_fiber_make(void *top, void (*fn)(void *), void *arg) {
  uintptr_t *sp = top;
  *--sp = 0; /* where unwinding ends */
  *--sp = 0;
  *--sp = (uintptr_t)pacc_fiber_enter; /* taken by ret, %rsp 0 mod 16 then */
  *--sp = 0;                           /* rbp */
  *--sp = 0;                           /* rbx */
  *--sp = (uintptr_t)fn;               /* r12 */
  *--sp = (uintptr_t)arg;              /* r13 */
  *--sp = 0;                           /* r14 */
  *--sp = 0;                           /* r15 */
  return sp;
}

#elif defined(__aarch64__) && !defined(PACC_FIBER_UCONTEXT)

__asm__(".text\n"
        ".p2align 4\n"
        ".hidden pacc_fiber_switch\n"
        ".globl pacc_fiber_switch\n"
        ".type pacc_fiber_switch, %function\n"
        "pacc_fiber_switch:\n"
        "  sub sp, sp, #160\n"
        "  stp x19, x20, [sp]\n"
        "  stp x21, x22, [sp, #16]\n"
        "  stp x23, x24, [sp, #32]\n"
        "  stp x25, x26, [sp, #48]\n"
        "  stp x27, x28, [sp, #64]\n"
        "  stp x29, x30, [sp, #80]\n"
        "  stp d8, d9, [sp, #96]\n"
        "  stp d10, d11, [sp, #112]\n"
        "  stp d12, d13, [sp, #128]\n"
        "  stp d14, d15, [sp, #144]\n"
        "  mov x9, sp\n"
        "  str x9, [x0]\n"
        "  mov sp, x1\n"
        "  ldp x19, x20, [sp]\n"
        "  ldp x21, x22, [sp, #16]\n"
        "  ldp x23, x24, [sp, #32]\n"
        "  ldp x25, x26, [sp, #48]\n"
        "  ldp x27, x28, [sp, #64]\n"
        "  ldp x29, x30, [sp, #80]\n"
        "  ldp d8, d9, [sp, #96]\n"
        "  ldp d10, d11, [sp, #112]\n"
        "  ldp d12, d13, [sp, #128]\n"
        "  ldp d14, d15, [sp, #144]\n"
        "  add sp, sp, #160\n"
        "  ret\n"
        ".size pacc_fiber_switch, .-pacc_fiber_switch\n"
        ".p2align 4\n"
        ".hidden pacc_fiber_enter\n"
        ".globl pacc_fiber_enter\n"
        ".type pacc_fiber_enter, %function\n"
        "pacc_fiber_enter:\n"
        "  mov x0, x20\n"
        "  mov x29, #0\n"
        "  blr x19\n"
        "  brk #1\n"
        ".size pacc_fiber_enter, .-pacc_fiber_enter\n");

void pacc_fiber_enter(void);

void *pacc_fiber_make(void *top, void (*fn)(void *), void *arg) {
  uintptr_t *sp = (uintptr_t *)top - 20;
  for (int i = 0; i < 20; i++)
    sp[i] = 0;
  sp[0] = (uintptr_t)fn;
  sp[1] = (uintptr_t)arg;
  sp[11] = (uintptr_t)pacc_fiber_enter;
  return sp;
}

#else

#include <ucontext.h>

/* makecontext passes ints: the pointers travel in a struct on the stack. */
struct start {
  ucontext_t context;
  void (*fn)(void *);
  void *arg;
};

static void enter(unsigned high, unsigned low) {
  struct start *start =
      (struct start *)(uintptr_t)((uint64_t)high << 32 | (uint64_t)low);
  start->fn(start->arg);
  __builtin_trap();
}

void *pacc_fiber_make(void *top, void (*fn)(void *), void *arg) {
  uintptr_t place = ((uintptr_t)top - sizeof(struct start)) & ~(uintptr_t)63;
  struct start *start = (struct start *)place;
  getcontext(&start->context);
  start->fn = fn;
  start->arg = arg;
  enum { LEAST = 2048 };
  start->context.uc_link = NULL;
  start->context.uc_stack.ss_sp = (void *)(place - LEAST);
  start->context.uc_stack.ss_size = LEAST;
  makecontext(&start->context, (void (*)(void))enter, 2,
              (unsigned)((uint64_t)place >> 32), (unsigned)place);
  return &start->context;
}

void pacc_fiber_switch(void **from, void *to) {
  ucontext_t here;
  *from = &here;
  swapcontext(&here, to);
}

#endif
