"""How much work each kernel has to do, whoever does it.

Operations count additions, multiplications, divisions, roots and comparisons
as one each, factors that do not change in the innermost loop as none. Traffic
is the least that any machine moves to and from memory: every array element
that the kernel needs is read once, every one that it leaves is written once.
"""


def _triangle(n):
    return n * (n + 1) / 2


# name: (operations, elements read, elements written), each of the sizes s.
_WORK = {
    "2mm": (lambda s: 2 * s.NI * s.NJ * (s.NK + s.NL) + s.NI * s.NL,
            lambda s: s.NI * s.NK + s.NK * s.NJ + s.NJ * s.NL + s.NI * s.NL,
            lambda s: s.NI * s.NL),
    "3mm": (lambda s: 2 * (s.NI * s.NJ * s.NK + s.NJ * s.NL * s.NM +
                           s.NI * s.NL * s.NJ),
            lambda s: s.NI * s.NK + s.NK * s.NJ + s.NJ * s.NM + s.NM * s.NL,
            lambda s: s.NI * s.NL),
    "adi": (lambda s: s.TSTEPS * 2 * (s.N - 2)**2 * 13, lambda s: s.N**2,
            lambda s: s.N**2),
    "atax": (lambda s: 4 * s.M * s.N, lambda s: s.M * s.N + s.N,
             lambda s: s.N),
    "bicg": (lambda s: 4 * s.M * s.N, lambda s: s.M * s.N + s.M + s.N,
             lambda s: s.M + s.N),
    "cholesky": (lambda s: s.N**3 / 3, lambda s: _triangle(s.N),
                 lambda s: _triangle(s.N)),
    "correlation": (lambda s: s.M * (s.M - 1) * s.N + 7 * s.M * s.N,
                    lambda s: s.M * s.N, lambda s: s.M**2),
    "covariance": (lambda s: _triangle(s.M) * 2 * s.N + 2 * s.M * s.N,
                   lambda s: s.M * s.N, lambda s: s.M**2),
    "deriche": (lambda s: 32 * s.W * s.H, lambda s: s.W * s.H,
                lambda s: s.W * s.H),
    "doitgen": (lambda s: 2 * s.NR * s.NQ * s.NP**2,
                lambda s: s.NR * s.NQ * s.NP + s.NP**2,
                lambda s: s.NR * s.NQ * s.NP),
    "durbin": (lambda s: 2 * s.N**2, lambda s: s.N, lambda s: s.N),
    "fdtd-2d": (lambda s: s.TMAX * (3 * (s.NX - 1) * s.NY + 3 * s.NX *
                                    (s.NY - 1) + 5 * (s.NX - 1) * (s.NY - 1)),
                lambda s: 3 * s.NX * s.NY, lambda s: 3 * s.NX * s.NY),
    "floyd-warshall": (lambda s: 2 * s.N**3, lambda s: s.N**2,
                       lambda s: s.N**2),
    "gemm": (lambda s: 2 * s.NI * s.NJ * s.NK + s.NI * s.NJ,
             lambda s: s.NI * s.NK + s.NK * s.NJ + s.NI * s.NJ,
             lambda s: s.NI * s.NJ),
    "gemver": (lambda s: 8 * s.N**2, lambda s: s.N**2 + 8 * s.N,
               lambda s: s.N**2 + 2 * s.N),
    "gesummv": (lambda s: 4 * s.N**2, lambda s: 2 * s.N**2 + s.N,
                lambda s: s.N),
    "gramschmidt": (lambda s: 2 * s.M * s.N * (s.N - 1) + 3 * s.M * s.N,
                    lambda s: s.M * s.N,
                    lambda s: 2 * s.M * s.N + _triangle(s.N)),
    "heat-3d": (lambda s: s.TSTEPS * 2 * (s.N - 2)**3 * 15,
                lambda s: s.N**3, lambda s: 2 * s.N**3),
    "jacobi-1d": (lambda s: s.TSTEPS * 2 * (s.N - 2) * 3, lambda s: s.N,
                  lambda s: 2 * s.N),
    "jacobi-2d": (lambda s: s.TSTEPS * 2 * (s.N - 2)**2 * 5,
                  lambda s: s.N**2, lambda s: 2 * s.N**2),
    "lu": (lambda s: 2 * s.N**3 / 3, lambda s: s.N**2, lambda s: s.N**2),
    "ludcmp": (lambda s: 2 * s.N**3 / 3 + 2 * s.N**2,
               lambda s: s.N**2 + s.N, lambda s: s.N**2 + 2 * s.N),
    "mvt": (lambda s: 4 * s.N**2, lambda s: s.N**2 + 4 * s.N,
            lambda s: 2 * s.N),
    "nussinov": (lambda s: s.N**3 / 3, lambda s: s.N, lambda s: s.N**2 / 2),
    "seidel-2d": (lambda s: s.TSTEPS * (s.N - 2)**2 * 9, lambda s: s.N**2,
                  lambda s: s.N**2),
    "symm": (lambda s: 4 * _triangle(s.M - 1) * s.N + 5 * s.M * s.N,
             lambda s: _triangle(s.M) + 2 * s.M * s.N,
             lambda s: s.M * s.N),
    "syr2k": (lambda s: _triangle(s.N) * (4 * s.M + 1),
              lambda s: 2 * s.M * s.N + _triangle(s.N),
              lambda s: _triangle(s.N)),
    "syrk": (lambda s: _triangle(s.N) * (2 * s.M + 1),
             lambda s: s.M * s.N + _triangle(s.N), lambda s: _triangle(s.N)),
    "trisolv": (lambda s: s.N**2, lambda s: _triangle(s.N) + s.N,
                lambda s: s.N),
    "trmm": (lambda s: 2 * _triangle(s.M - 1) * s.N + s.M * s.N,
             lambda s: _triangle(s.M - 1) + s.M * s.N, lambda s: s.M * s.N),
}

TYPE_BYTES = {"double": 8, "float": 4, "int": 4}


class _Sizes:

    def __init__(self, sizes):
        self.__dict__.update(sizes)


def work(kernel, sizes, data_type):
    """(operations, bytes) of a kernel, as whole numbers; sizes as in {"N": 40}.
    None for a kernel or sizes not known here."""
    if kernel not in _WORK or data_type not in TYPE_BYTES:
        return None
    operations, read, written = _WORK[kernel]
    known = _Sizes(sizes)
    try:
        elements = read(known) + written(known)
        return (round(operations(known)),
                round(elements * TYPE_BYTES[data_type]))
    except AttributeError:
        return None


def bound_seconds(operations, traffic, rates):
    """The shortest time in seconds in which a device could do the work, given
    its measured rates {"flops": operations/s, "bandwidth": bytes/s}."""
    return max(operations / rates["flops"], traffic / rates["bandwidth"])
