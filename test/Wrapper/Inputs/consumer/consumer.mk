# Built by make.test with CC=polly-acc-clang.
VPATH := $(dir $(lastword $(MAKEFILE_LIST)))
CFLAGS := -O2

main: main.o vector.o
