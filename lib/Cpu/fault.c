/* fault.c: faults in device code become errors.
 *
 * The handlers act only on a host thread that runs device code; for all others
 * they do what the program's own handlers would have done. A fault notes what
 * happened and switches to the worker's home; the words are found there.
 */
#include "exec_private.h"

#include "arena.h"
#include "devfn_private.h"
#include "fiber.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
enum { N_SIGNALS = sizeof(signals) / sizeof(signals[0]) };
enum { SIGNAL_STACK = 64 * 1024 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction previous[N_SIGNALS];
static int installed;

_Noreturn void pacc_fault_raise(const struct pacc_fault *fault) {
  struct pacc_worker *worker = pacc_worker_current;
  void *forgotten;
  worker->fault = *fault;
  pacc_fiber_switch(&forgotten, worker->home);
  abort(); /* nobody switches back to a forgotten fiber */
}

/* -- Signals -- */

/* What the processor was doing: 1 write, 0 read, -1 unknown. */
static int access_is_write(const void *context) {
#if defined(__x86_64__) && defined(__linux__)
  const ucontext_t *u = context;
  return (int)(u->uc_mcontext.gregs[REG_ERR] >> 1 & 1);
#else
  (void)context;
  return -1;
#endif
}

static void forward(int index, int signal, siginfo_t *info, void *context) {
  const struct sigaction *old = &previous[index];
  if (old->sa_flags & SA_SIGINFO) {
    old->sa_sigaction(signal, info, context);
  } else if (old->sa_handler == SIG_DFL || old->sa_handler == SIG_IGN) {
    /* The default action: the instruction faults again without us. A signal
     * that somebody sent does not come again, so send it once more. */
    struct sigaction none = {.sa_handler = SIG_DFL};
    if (old->sa_handler == SIG_IGN && info->si_code <= 0)
      return;
    sigaction(signal, &none, NULL);
    if (info->si_code <= 0)
      raise(signal);
  } else {
    old->sa_handler(signal);
  }
}

static void on_signal(int signal, siginfo_t *info, void *context) {
  int index = 0;
  while (index < N_SIGNALS - 1 && signals[index] != signal)
    index++;
  if (!pacc_worker_current || info->si_code <= 0) {
    forward(index, signal, info, context);
    return;
  }
  struct pacc_fault fault = {.status = PACC_CPU_ERROR_FAULT,
                             .address = (uint64_t)(uintptr_t)info->si_addr,
                             .write = -1,
                             .text = strsignal(signal)};
  if (signal == SIGSEGV || signal == SIGBUS) {
    fault.status = PACC_CPU_ERROR_OUT_OF_BOUNDS;
    fault.write = access_is_write(context);
    fault.no_address = info->si_code == SI_KERNEL;
  } else if (signal == SIGFPE) {
    fault.status = PACC_CPU_ERROR_ARITHMETIC;
  } else if (signal == SIGILL || signal == SIGTRAP) {
    fault.status = PACC_CPU_ERROR_TRAP;
  }
  pacc_fault_raise(&fault);
}

/* -- The signal stack of each host thread -- */

static pthread_key_t stack_key;
static pthread_once_t stack_once = PTHREAD_ONCE_INIT;
static int stack_key_status;

static void stack_release(void *stack) {
  stack_t none = {.ss_flags = SS_DISABLE}, now;
  if (!sigaltstack(NULL, &now) && now.ss_sp == stack)
    sigaltstack(&none, NULL);
  free(stack);
}

static void stack_init(void) {
  stack_key_status = pthread_key_create(&stack_key, stack_release);
}

/* A fault may be an overflow of the device stack, so handlers need their own.
 * A stack that the program has set up is left in place. */
static int stack_prepare(void) {
  pthread_once(&stack_once, stack_init);
  if (stack_key_status)
    return -1;
  if (pthread_getspecific(stack_key))
    return 0;
  stack_t now;
  if (sigaltstack(NULL, &now))
    return -1;
  if (!(now.ss_flags & SS_DISABLE))
    return 0;
  void *memory = malloc(SIGNAL_STACK);
  stack_t stack = {.ss_sp = memory, .ss_size = SIGNAL_STACK};
  if (!memory || pthread_setspecific(stack_key, memory)) {
    free(memory);
    return -1;
  }
  return sigaltstack(&stack, NULL);
}

/* -- Installing -- */

static int is_ours(const struct sigaction *action) {
  return action->sa_flags & SA_SIGINFO && action->sa_sigaction == on_signal;
}

static int install(void) {
  struct sigaction action = {.sa_sigaction = on_signal,
                             .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < N_SIGNALS; i++) {
    struct sigaction old;
    if (sigaction(signals[i], &action, &old))
      return -1;
    if (!is_ours(&old))
      previous[i] = old;
  }
  installed = 1;
  return 0;
}

int pacc_fault_prepare(void) {
  /* The program may have installed handlers of its own since the last launch:
   * one look at the most likely one tells. */
  struct sigaction now;
  pthread_mutex_lock(&lock);
  int failed = stack_prepare();
  if (!failed)
    failed = sigaction(SIGSEGV, NULL, &now);
  if (!failed && !(installed && is_ours(&now)))
    failed = install();
  int error = errno;
  pthread_mutex_unlock(&lock);
  if (failed)
    return pacc_cpu_fail(PACC_CPU_ERROR_OUT_OF_MEMORY,
                         "cannot install the fault handlers: %s",
                         strerror(error));
  return 0;
}

void pacc_fault_restore(void) {
  pthread_mutex_lock(&lock);
  for (int i = 0; installed && i < N_SIGNALS; i++) {
    struct sigaction now;
    if (!sigaction(signals[i], NULL, &now) && is_ours(&now))
      sigaction(signals[i], &previous[i], NULL);
  }
  installed = 0;
  pthread_mutex_unlock(&lock);
}

/* -- Calls out of device code -- */

void pacc_dev_fault_access(void *address, uint32_t size, uint32_t flags) {
  struct pacc_fault fault = {.status = PACC_CPU_ERROR_OUT_OF_BOUNDS,
                             .address = (uint64_t)(uintptr_t)address,
                             .size = size,
                             .write = (int)(flags & 1)};
  if (fault.address & (flags >> 1) && pacc_cpu_arena_kind(fault.address) >= 0)
    fault.status = PACC_CPU_ERROR_MISALIGNED;
  pacc_fault_raise(&fault);
}

void pacc_dev_fault_trap(void) {
  struct pacc_fault fault = {.status = PACC_CPU_ERROR_TRAP};
  pacc_fault_raise(&fault);
}

void pacc_dev_fault_unsupported(const char *what) {
  struct pacc_fault fault = {.status = PACC_CPU_ERROR_UNSUPPORTED,
                             .text = what};
  pacc_fault_raise(&fault);
}

void pacc_dev_fault_assert(const char *message, const char *file, uint32_t line,
                           const char *function) {
  (void)function;
  struct pacc_fault fault = {.status = PACC_CPU_ERROR_ASSERT,
                             .text = message,
                             .text2 = file,
                             .number = line};
  pacc_fault_raise(&fault);
}

/* -- Reports -- */

static void access_text(const struct pacc_fault *fault, char *text,
                        size_t size) {
  char where[256], bytes[32] = "";
  const char *verb = fault->write < 0    ? "an access"
                     : fault->write == 0 ? "a read"
                                         : "a write";
  if (fault->no_address) {
    snprintf(text, size, "an access with an address that no memory can have");
    return;
  }
  pacc_cpu_arena_describe(fault->address, where, sizeof(where));
  if (fault->size)
    snprintf(bytes, sizeof(bytes), " of %u bytes", fault->size);
  snprintf(text, size, "%s%s at 0x%llx, %s", verb, bytes,
           (unsigned long long)fault->address, where);
}

static void fault_text(struct pacc_worker *worker, char *text, size_t size) {
  struct pacc_fault *fault = &worker->fault;
  switch (fault->status) {
  case PACC_CPU_ERROR_OUT_OF_BOUNDS:
    if (!fault->size && !fault->no_address &&
        pacc_cpu_arena_kind_below(fault->address) == PACC_CPU_STACK)
      fault->status = PACC_CPU_ERROR_STACK_OVERFLOW;
    access_text(fault, text, size);
    break;
  case PACC_CPU_ERROR_MISALIGNED:
    access_text(fault, text, size);
    break;
  case PACC_CPU_ERROR_ARITHMETIC:
    snprintf(text, size,
             "an integer division by zero, or the lowest integer "
             "divided by -1");
    break;
  case PACC_CPU_ERROR_TRAP:
    snprintf(text, size, "a trap");
    break;
  case PACC_CPU_ERROR_ASSERT:
    snprintf(text, size, "assertion '%s' failed at %s:%u", fault->text,
             fault->text2, fault->number);
    break;
  case PACC_CPU_ERROR_UNSUPPORTED:
    snprintf(text, size, "the CPU device has no version of %s", fault->text);
    break;
  case PACC_CPU_ERROR_BARRIER_DIVERGENCE:
    snprintf(text, size,
             "lanes of one warp are at barrier %u in different places of the "
             "program",
             fault->number);
    break;
  case PACC_CPU_ERROR_DEADLOCK:
    pacc_fault_waiting(worker, text, size);
    break;
  case PACC_CPU_ERROR_INVALID_SYNC:
    snprintf(text, size, fault->text, fault->number);
    break;
  default:
    snprintf(text, size, "%s", fault->text);
    break;
  }
}

int pacc_fault_report(struct pacc_worker *worker, uint64_t id) {
  char text[640], thread[64] = "";
  fault_text(worker, text, sizeof(text));
  const uint32_t *block = worker->block->id;
  if (id != UINT64_MAX)
    snprintf(thread, sizeof(thread), ", thread (%u,%u,%u)", pacc_cpu_id_x(id),
             pacc_cpu_id_y(id), pacc_cpu_id_z(id));
  return pacc_cpu_fail(
      worker->fault.status, "kernel '%s', block (%u,%u,%u)%s: %s",
      worker->launch->kernel->name, block[0], block[1], block[2], thread, text);
}

/* Where a thread waits, in words that are equal for threads that wait for the
 * same. */
static void wait_text(const struct pacc_fiber *fiber, char *text, size_t size) {
  if (fiber->state == PACC_AT_BARRIER)
    snprintf(text, size, "at barrier %u", fiber->what);
  else
    snprintf(text, size, "for the lanes 0x%08x of a warp operation",
             fiber->what);
}

void pacc_fault_waiting(const struct pacc_worker *worker, char *text,
                        size_t size) {
  enum { MAX_GROUPS = 4 };
  uint32_t n = worker->launch->n_threads, n_waiting = 0, n_groups = 0;
  uint64_t leaders[MAX_GROUPS];
  uint32_t counts[MAX_GROUPS] = {0};
  char mine[64], theirs[64];
  for (uint32_t i = 0; i < n; i++) {
    const struct pacc_fiber *fiber = &worker->fibers[i];
    if (fiber->state == PACC_DONE)
      continue;
    n_waiting++;
    wait_text(fiber, mine, sizeof(mine));
    uint32_t g = 0;
    for (; g < n_groups; g++) {
      wait_text(&worker->fibers[leaders[g]], theirs, sizeof(theirs));
      if (!strcmp(mine, theirs))
        break;
    }
    if (g == n_groups && g < MAX_GROUPS)
      leaders[n_groups++] = i;
    if (g < MAX_GROUPS)
      counts[g]++;
  }
  int used = snprintf(text, size, "deadlock: %u of %u threads wait for others",
                      n_waiting, n);
  for (uint32_t g = 0; g < n_groups && used > 0 && (size_t)used < size; g++) {
    uint64_t id = worker->threads[leaders[g]].id;
    wait_text(&worker->fibers[leaders[g]], mine, sizeof(mine));
    used += snprintf(text + used, size - (size_t)used,
                     "; %u %s, such as thread (%u,%u,%u)", counts[g], mine,
                     pacc_cpu_id_x(id), pacc_cpu_id_y(id), pacc_cpu_id_z(id));
  }
}
