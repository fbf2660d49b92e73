"""What polybench/run.py and polybench/compare.py are made of.

dumps      reads the arrays that a kernel printed, compares two sets of them
suites     finds the kernels of a suite
configs    the named ways to build and run a kernel
recipes    the commands that build a program
build      compiles kernels, writes a manifest
remarks    what the compiler left alone, and why
metrics    how much work a kernel has to do
processes  starts programs; Ctrl-C leaves none behind
bundle     folders that run on another machine
machine    what the results were measured on
selfcheck  reads the results of programs that compare by themselves
execute    runs a manifest's programs and checks their results
sanitize   runs them under compute-sanitizer
profile    reads the runtime's profile of a run
store      the results file: one CSV that runs are added to
derived    columns that follow from a results file's
progress   the progress bar

bundle.MODULES use the standard library of Python 3.9 only: they travel in a
bundle to machines that have nothing else.
"""
