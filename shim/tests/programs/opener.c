// Opens argv[1] with the flags argv[2] and runs its module_run(argv[3]).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **arguments) {
    if (count < 4) return 2;
    void *module = dlopen(arguments[1], atoi(arguments[2]));
    if (!module) { printf("%s\n", dlerror()); return 1; }
    int (*run)(const char *) = (int (*)(const char *))dlsym(module, "module_run");
    return run(arguments[3]);
}
