/* A client that loads the library and asks it for functions by name, version and flag, as NVIDIA's runtimes do. */
#include <dlfcn.h>

#include "cuda_min.h"

typedef CUresult (*resolve_v1)(const char *, void **, int, uint64_t);
typedef CUresult (*resolve_v2)(const char *, void **, int, uint64_t, int *);

static void *library;

static void *exported(const char *name) {
    void *address = dlsym(library, name);
    if (address == NULL) {
        fprintf(stderr, "%s is not exported\n", name);
        exit(1);
    }
    return address;
}

static void means(resolve_v2 resolve, const char *name, int version, uint64_t flags, const char *export) {
    void *found = &library;
    int status = -1;
    CHECK(resolve(name, &found, version, flags, &status));
    if (found != exported(export) || status != 0) {
        fprintf(stderr, "%s at %d with flags %lu is not %s\n", name, version, (unsigned long)flags, export);
        exit(1);
    }
}

static void lacks(resolve_v2 resolve, const char *name, int version, int why) {
    void *found = &library;
    int status = -1;
    CHECK(resolve(name, &found, version, 0, &status));
    EXPECT(found == NULL, 1);
    EXPECT(status, why);
    EXPECT(resolve(name, &found, version, 0, NULL), 500);
}

int main(void) {
    library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    resolve_v1 old = (resolve_v1)exported("cuGetProcAddress");
    resolve_v2 resolve = (resolve_v2)exported("cuGetProcAddress_v2");
    /* The newest form that is not above the version. */
    means(resolve, "cuMemAlloc", 2000, 0, "cuMemAlloc");
    means(resolve, "cuMemAlloc", 3020, 0, "cuMemAlloc_v2");
    means(resolve, "cuMemAlloc", 13050, 0, "cuMemAlloc_v2");
    means(resolve, "cuCtxCreate", 11040, 0, "cuCtxCreate_v3");
    means(resolve, "cuCtxCreate", 13000, 0, "cuCtxCreate_v4");
    means(resolve, "cuStreamGetCaptureInfo", 11030, 0, "cuStreamGetCaptureInfo_v2");
    means(resolve, "cuGraphInstantiate", 11000, 0, "cuGraphInstantiate_v2");
    means(resolve, "cuGetProcAddress", 11030, 0, "cuGetProcAddress");
    means(resolve, "cuGetProcAddress", 12000, 0, "cuGetProcAddress_v2");
    /* Flag 1 says legacy, flag 2 per thread: the twin where there is one. */
    means(resolve, "cuLaunchKernel", 12000, 1, "cuLaunchKernel");
    means(resolve, "cuLaunchKernel", 12000, 2, "cuLaunchKernel_ptsz");
    means(resolve, "cuMemcpyHtoD", 12000, 2, "cuMemcpyHtoD_v2_ptds");
    means(resolve, "cuMemAlloc", 12000, 2, "cuMemAlloc_v2");
    lacks(resolve, "", 12000, 1);
    lacks(resolve, "cuNoSuchFunction", 12000, 1);
    lacks(resolve, "cuMemAlloc_v2", 12000, 1);
    lacks(resolve, "cuLaunchKernelEx", 11000, 2);
    void *found = &library;
    CHECK(old("cuMemFree", &found, 12000, 0));
    EXPECT(found == exported("cuMemFree_v2"), 1);
    found = &library;
    EXPECT(old("cuNoSuchFunction", &found, 12000, 0), 500);
    EXPECT(found == (void *)&library, 1);
    EXPECT(old("cuMemFree", &found, 12000, 16), 1);
    /* What was resolved works. */
    CUresult (*init)(unsigned);
    CUresult (*version)(int *);
    int driver = 0;
    CHECK(resolve("cuInit", (void **)&init, 12000, 0, NULL));
    CHECK(resolve("cuDriverGetVersion", (void **)&version, 12000, 0, NULL));
    CHECK(version(&driver));
    EXPECT(driver >= 13000 && driver < 14000, 1);
    CHECK(init(0));
    return 0;
}
