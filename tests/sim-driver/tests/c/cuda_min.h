/* The few declarations of the driver API that these programs use: no header of NVIDIA's is needed to build them. */
#ifndef CUDA_MIN_H
#define CUDA_MIN_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef int CUdevice;
typedef int CUresult;
typedef unsigned long long CUdeviceptr;
typedef void *CUcontext, *CUmodule, *CUfunction, *CUstream;

#define PTX ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry spin_100us() { ret; }\n"

#define EXPECT(call, wanted)                                                                              \
    do {                                                                                                  \
        long got_ = (long)(call);                                                                         \
        if (got_ != (long)(wanted)) {                                                                     \
            fprintf(stderr, "%s:%d: %s gave %ld, not %ld\n", __FILE__, __LINE__, #call, got_, (long)(wanted)); \
            exit(1);                                                                                      \
        }                                                                                                 \
    } while (0)
#define CHECK(call) EXPECT(call, 0)

#endif
