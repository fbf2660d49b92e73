/* progress.c: work gets done without anybody who waits for it by a call. A
 * program may wait for what a kernel or a host function writes to memory. Such
 * programs are few, and one that waits by calls is repeatable: so a thread
 * looks now and then whether the program is stuck, and often from the first
 * time on that it was. */
#include "cudart_private.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

static const struct timespec rare = {0, 500000000}, often = {0, 5000000};

static void *progress_main(void *opaque) {
  struct pacc_queue *queue = opaque;
  struct timespec interval = rare;
  uint64_t seen = 0;
  for (;;) {
    nanosleep(&interval, NULL);
    if (pacc_queue_is_idle(queue, &seen)) {
      pacc_queue_finish(queue); /* a failure is for the next call to tell */
      interval = often;
    }
  }
  return NULL;
}

/* Signals of the program are for its own threads. */
void pacc_cudart_start_progress(struct pacc_queue *queue) {
  pthread_t thread;
  sigset_t all, before;
  sigfillset(&all);
  /* Faults of device code are this thread's. */
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
  for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
    sigdelset(&all, faults[i]);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  if (!pthread_create(&thread, NULL, progress_main, queue))
    pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}
