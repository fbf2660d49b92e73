/* error.c: names and texts of the errors that this library returns, and of
 * those that programs make themselves. */
#include "cudart_private.h"

static const struct {
  cudaError_t error;
  const char *name, *text;
} errors[] = {
#define ERROR(id, text) {cudaError##id, "cudaError" #id, text},
    {cudaSuccess, "cudaSuccess", "no error"},
    ERROR(InvalidValue, "invalid argument") ERROR(
        MemoryAllocation,
        "out of memory") ERROR(InitializationError,
                               "initialization error") ERROR(InvalidConfiguration,
                                                             "invalid "
                                                             "configuration "
                                                             "argument")
        ERROR(InvalidPitchValue, "invalid pitch argument") ERROR(
            InvalidSymbol,
            "invalid device symbol") ERROR(InvalidMemcpyDirection,
                                           "invalid copy direction for memcpy")
            ERROR(MissingConfiguration,
                  "missing launch "
                  "configuration") ERROR(LaunchMaxDepthExceeded,
                                         "launch would exceed maximum "
                                         "depth") ERROR(SyncDepthExceeded,
                                                        "depth of "
                                                        "synchronization "
                                                        "exceeded")
                ERROR(
                    LaunchPendingCountExceeded,
                    "too many launches wait") ERROR(InvalidDeviceFunction,
                                                    "invalid device "
                                                    "function") ERROR(NoDevice,
                                                                      "no "
                                                                      "device")
                    ERROR(InvalidDevice, "invalid device ordinal") ERROR(
                        InvalidKernelImage,
                        "device kernel "
                        "image is invalid") ERROR(InvalidResourceHandle,
                                                  "invalid resource "
                                                  "handle")
                        ERROR(IllegalState, "illegal state") ERROR(
                            UnsupportedLimit,
                            "limit is not supported "
                            "on this architecture") ERROR(SymbolNotFound,
                                                          "symbol not found")
                            ERROR(NotReady, "device not ready") ERROR(
                                IllegalAddress,
                                "an illegal memory "
                                "access was "
                                "encountered") ERROR(LaunchOutOfResources,
                                                     "too many resources "
                                                     "requested for "
                                                     "launch")
                                ERROR(
                                    LaunchTimeout,
                                    "threads of a kernel "
                                    "wait for each other") ERROR(Assert,
                                                                 "device-side "
                                                                 "assert "
                                                                 "triggered")
                                    ERROR(HardwareStackError,
                                          "local memory of a thread is used "
                                          "up") ERROR(IllegalInstruction,
                                                      "an illegal "
                                                      "instruction was "
                                                      "encountered")
                                        ERROR(MisalignedAddress,
                                              "misaligned address")
                                            ERROR(LaunchFailure,
                                                  "unspecified launch "
                                                  "failure")
                                                ERROR(CooperativeLaunchTooLarge,
                                                      "too many blocks in "
                                                      "cooperative launch")
                                                    ERROR(NotPermitted,
                                                          "operation not "
                                                          "permitted")
                                                        ERROR(NotSupported,
                                                              "operation not "
                                                              "supported on "
                                                              "the CPU "
                                                              "device")
                                                            ERROR(Unknown,
                                                                  "unknown "
                                                                  "error")
#undef ERROR
};
enum { N_ERRORS = sizeof(errors) / sizeof(errors[0]) };

PACC_PUBLIC const char *cudaGetErrorName(cudaError_t error) {
  for (int i = 0; i < N_ERRORS; i++)
    if (errors[i].error == error)
      return errors[i].name;
  return "unrecognized error code";
}

PACC_PUBLIC const char *cudaGetErrorString(cudaError_t error) {
  for (int i = 0; i < N_ERRORS; i++)
    if (errors[i].error == error)
      return errors[i].text;
  return "unrecognized error code";
}
