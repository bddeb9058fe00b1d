// Another preload library or wrapper library, which stands before the driver by RTLD_NEXT, and before libc's getpid.
// -DVERSIONED: it also overrides dlsym, and looks for the real one by version as such libraries do.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *file_of(void *address) {
    Dl_info info;
    if (!address || !dladdr(address, &info)) return "nowhere";
    const char *slash = strrchr(info.dli_fname, '/');
    return slash ? slash + 1 : info.dli_fname;
}

unsigned cuMemAlloc_v2(void *out, unsigned long bytes) {
    unsigned (*next)(void *, unsigned long) = dlsym(RTLD_NEXT, "cuMemAlloc_v2");
    printf("interposed alloc, next in %s\n", file_of(next));
    return next ? next(out, bytes) : 999;
}

pid_t getpid(void) {
    pid_t (*next)(void) = dlsym(RTLD_NEXT, "getpid");
    printf("interposed getpid, next in %s\n", file_of(next));
    return next && next != getpid ? next() : -1;
}

#ifdef VERSIONED
void *dlsym(void *handle, const char *name) {
    static void *(*next)(void *, const char *);
    if (!next) next = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    if (!next) next = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.17");
    if (!strcmp(name, "cuMemFree_v2")) printf("interposed dlsym, next in %s\n", file_of(next));
    return next(handle, name);
}
#endif
