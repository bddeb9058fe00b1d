// A program that defines a function with one of the driver's names for itself, and also uses the driver.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

unsigned cuMemAlloc_v2(void *out, unsigned long bytes) { return out ? 1 : 4242 + (unsigned)bytes; }

int main(int count, char **arguments) {
    void *handle = dlopen(arguments[1], RTLD_NOW);
    unsigned (*volatile by_default)(void *, unsigned long) = dlsym(RTLD_DEFAULT, "cuMemAlloc_v2");
    unsigned (*volatile direct)(void *, unsigned long) = cuMemAlloc_v2;
    void *driver = dlsym(handle, "cuMemAlloc_v2");
    Dl_info info;
    printf("%u %u %d %s\n", by_default(0, 1), direct(0, 1), by_default == direct,
           count > 1 && dladdr(driver, &info) ? info.dli_fname : "nowhere");
    return 0;
}
