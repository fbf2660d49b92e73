/* device.h: what the test kernels share. They are C for nvptx64. */
#ifndef DEVICE_H
#define DEVICE_H

#include <stddef.h>
#include <stdint.h>

#define KERNEL __attribute__((device_kernel)) void
#define SHARED __attribute__((address_space(3)))
#define GLOBAL __attribute__((address_space(1)))

#define TID_X __nvvm_read_ptx_sreg_tid_x()
#define TID_Y __nvvm_read_ptx_sreg_tid_y()
#define TID_Z __nvvm_read_ptx_sreg_tid_z()
#define CTA_X __nvvm_read_ptx_sreg_ctaid_x()
#define CTA_Y __nvvm_read_ptx_sreg_ctaid_y()
#define CTA_Z __nvvm_read_ptx_sreg_ctaid_z()
#define NTID_X __nvvm_read_ptx_sreg_ntid_x()
#define NTID_Y __nvvm_read_ptx_sreg_ntid_y()
#define NTID_Z __nvvm_read_ptx_sreg_ntid_z()
#define NCTA_X __nvvm_read_ptx_sreg_nctaid_x()
#define NCTA_Y __nvvm_read_ptx_sreg_nctaid_y()
#define NCTA_Z __nvvm_read_ptx_sreg_nctaid_z()
#define GLOBAL_X (CTA_X * NTID_X + TID_X)

#endif
