/* hostfn.c: the table of host functions. */
#include "hostfn.h"

#include <math.h>
#include <string.h>

/* The compiler's own library: 128-bit integers and half precision. */
extern void __udivti3(void), __umodti3(void), __divti3(void), __modti3(void);
extern void __truncsfhf2(void), __truncdfhf2(void), __extendhfsf2(void);

#define ONE(f) {#f, (void *)f},
#define PAIR(name) ONE(name) ONE(name##f)

static const struct pacc_hostfn functions[] = {
    ONE(memcpy) ONE(memmove) ONE(memset) ONE(memcmp) ONE(__udivti3) ONE(
        __umodti3) ONE(__divti3) ONE(__modti3) ONE(__truncsfhf2)
        ONE(__truncdfhf2) ONE(__extendhfsf2) PAIR(sqrt) PAIR(fabs) PAIR(
            floor) PAIR(ceil) PAIR(trunc) PAIR(rint) PAIR(nearbyint) PAIR(round)
            PAIR(roundeven) PAIR(copysign) PAIR(fma) PAIR(fmin) PAIR(fmax) PAIR(
                fmod) PAIR(remainder) PAIR(remquo) PAIR(fdim) PAIR(exp)
                PAIR(exp2) PAIR(exp10) PAIR(expm1) PAIR(log) PAIR(log2) PAIR(
                    log10) PAIR(log1p) PAIR(pow) PAIR(cbrt) PAIR(hypot)
                    PAIR(sin) PAIR(cos) PAIR(tan) PAIR(sincos) PAIR(asin)
                        PAIR(acos) PAIR(atan) PAIR(atan2) PAIR(sinh) PAIR(cosh)
                            PAIR(tanh) PAIR(asinh) PAIR(acosh) PAIR(atanh)
                                PAIR(erf) PAIR(erfc) PAIR(lgamma) PAIR(tgamma)
                                    PAIR(j0) PAIR(j1) PAIR(jn) PAIR(y0) PAIR(y1)
                                        PAIR(yn) PAIR(ldexp) PAIR(frexp)
                                            PAIR(modf) PAIR(scalbn) PAIR(logb)
                                                PAIR(ilogb) PAIR(nextafter)
                                                    PAIR(lrint) PAIR(llrint)
                                                        PAIR(lround)
                                                            PAIR(llround)};

enum { N_FUNCTIONS = sizeof(functions) / sizeof(functions[0]) };

const struct pacc_hostfn *pacc_hostfn_table(size_t *n) {
  *n = N_FUNCTIONS;
  return functions;
}

const struct pacc_hostfn *pacc_hostfn_find(const char *name) {
  for (size_t i = 0; i < N_FUNCTIONS; i++)
    if (strcmp(functions[i].name, name) == 0)
      return &functions[i];
  return NULL;
}
