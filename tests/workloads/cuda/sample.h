// What the sample programs share: a primary context on device 0, the kernels, and whether results can be checked (the
// simulated GPU computes nothing, so there they only show that every call succeeds).
#pragma once
#include "../c/common.h"

struct sample {
    CUcontext context;
    CUmodule module;
    bool checked;
};

static inline sample start(const char *argv0) {
    sample s{};
    CUdevice device;
    char name[256];
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDeviceGetName(name, sizeof name, device));
    s.checked = strstr(name, "imulated") == nullptr;
    CHECK(cuDevicePrimaryCtxRetain(&s.context, device));
    CHECK(cuCtxSetCurrent(s.context));
    s.module = load_kernels(argv0);
    return s;
}

static inline CUfunction kernel(const sample &s, const char *name) {
    CUfunction function;
    CHECK(cuModuleGetFunction(&function, s.module, name));
    return function;
}

// Ends the program: 0 if the results were right or could not be checked, 1 if wrong.
static inline int finish(const char *program, const sample &s, bool right) {
    const char *verdict = !s.checked ? "not checked (simulated device)" : right ? "right" : "WRONG";
    printf("{\"sample\": \"%s\", \"results\": \"%s\"}\n", program, verdict);
    return s.checked && !right;
}
