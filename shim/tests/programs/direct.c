// Linked against the driver, as PyCUDA or a -lcuda program is. Checks that every argument arrives, also on the first call
// through an export, and says where the linker bound each name to.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

unsigned cuInit(unsigned);
unsigned cuDriverGetVersion(int *);
unsigned cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
unsigned cuMemAlloc_v2(unsigned long long *, unsigned long);
unsigned cuCtxSynchronize(void);
const char *fake_name(unsigned);

static const char *file_of(void *address) {
    Dl_info info;
    if (!dladdr(address, &info)) return "nowhere";
    const char *slash = strrchr(info.dli_fname, '/');
    return slash ? slash + 1 : info.dli_fname;
}

int main(void) {
    unsigned long long address = 0;
    int version = 0;
    printf("init %u\n", cuInit(0));
    unsigned result = cuDriverGetVersion(&version);
    printf("version %u %d\n", result, version);
    for (int i = 0; i < 2; i++)
        printf("launch %s\n", fake_name(cuLaunchKernel((void *)1, 2, 3, 4, 5, 6, 7, 8, (void *)9, (void **)10, (void **)11)));
    printf("alloc %s\n", fake_name(cuMemAlloc_v2(&address, 4096)));
    printf("synchronize %s\n", fake_name(cuCtxSynchronize()));
    printf("bound %s %s\n", file_of((void *)cuLaunchKernel), file_of((void *)cuDriverGetVersion));
    return 0;
}
