/* status.h: the CPU device's status codes, their names, and the text about the
 * last failure of each host thread. */
#ifndef PACC_CPU_STATUS_H
#define PACC_CPU_STATUS_H

/* Every code, once: PACC_CPU_ERROR_<id>. The numbers are stable. */
#define PACC_CPU_STATUS_CODES(X)                                               \
  X(INVALID_VALUE, 1)   /* an argument or a setting that makes no sense */     \
  X(NO_DEVICE, 2)       /* an ordinal other than 0 */                          \
  X(OUT_OF_MEMORY, 3)   /* device memory, or host memory for it */             \
  X(NO_BITCODE, 4)      /* the image was built without bitcode */              \
  X(INVALID_IMAGE, 5)   /* damaged bitcode, or not for NVPTX */                \
  X(COMPILE, 6)         /* the host code generator refused the module */       \
  X(NO_KERNEL, 7)       /* no kernel of that name in the module */             \
  X(LAUNCH_LIMITS, 8)   /* a launch that no GPU would take */                  \
  X(OUT_OF_BOUNDS, 9)   /* an access outside device memory */                  \
  X(MISALIGNED, 10)     /* an access at a multiple of less than its size */    \
  X(ARITHMETIC, 11)     /* integer division by zero or overflow */             \
  X(TRAP, 12)           /* the kernel trapped */                               \
  X(ASSERT, 13)         /* an assertion of the kernel failed */                \
  X(STACK_OVERFLOW, 14) /* local memory of a thread is used up */              \
  X(DEADLOCK, 15)       /* threads of a block wait for each other */           \
  X(BARRIER_DIVERGENCE, 16) /* lanes of a warp at different barriers */        \
  X(INVALID_SYNC, 17)       /* a barrier or warp operation used wrongly */     \
  X(UNSUPPORTED, 18)        /* a device function that has no host version */   \
  X(FAULT, 19)              /* any other fault in a kernel */

enum pacc_cpu_status {
  PACC_CPU_OK = 0,
#define PACC_CPU_STATUS_ENUM(id, number) PACC_CPU_ERROR_##id = number,
  PACC_CPU_STATUS_CODES(PACC_CPU_STATUS_ENUM)
#undef PACC_CPU_STATUS_ENUM
};

enum { PACC_CPU_DETAIL_SIZE = 1024 };

/* "PACC_CPU_ERROR_OUT_OF_BOUNDS"; never NULL. */
const char *pacc_cpu_status_name(int status);

/* Notes what went wrong on this host thread and returns `status`, so that
 * `return pacc_cpu_fail(...)` reads well. */
int pacc_cpu_fail(int status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The text of this thread's last pacc_cpu_fail, or "". */
const char *pacc_cpu_detail(void);

#endif
