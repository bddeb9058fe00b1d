// A module such as Taichi's: opened with RTLD_DEEPBIND, looks the driver up by itself. Its -DLINKED form is linked to it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static const char *file_of(void *address) {
    Dl_info info;
    if (!address || !dladdr(address, &info)) return "nowhere";
    const char *slash = strrchr(info.dli_fname, '/');
    return slash ? slash + 1 : info.dli_fname;
}

#ifdef LINKED
unsigned cuLaunchKernel();
#endif

int module_run(const char *driver) {
#ifdef LINKED
    printf("module bound to %s\n", file_of((void *)cuLaunchKernel));
#endif
#ifdef LINKED
    printf("module's next is in %s\n", file_of(dlsym(RTLD_NEXT, "cuMemAlloc_v2")));
#endif
    void *handle = dlopen(driver, RTLD_LAZY);
    printf("module got %s\n", file_of(dlsym(handle, "cuMemAlloc_v2")));
    // Its dependency lies only in its own RUNPATH.
    printf("module found its own library: %s\n", dlopen("libonlyhere.so", RTLD_NOW) ? "yes" : "no");
    return 0;
}
