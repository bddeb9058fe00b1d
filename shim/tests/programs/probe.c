// Looks functions up in every way that a program can, and says whose function it got: one command a line on stdin, one
// answer a line on stdout. "call" answers are only asked of the fake driver, whose functions return their own number.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned (*function)();
typedef const char *(*naming)(unsigned);
typedef unsigned (*proc_v1)(const char *, void **, int, unsigned long long);
typedef unsigned (*proc_v2)(const char *, void **, int, unsigned long long, int *);

static void *handle;

struct known { void *address; char name[64]; };
static struct known known[2048];
static int known_count;

static const char *file_of(const void *address) {
    Dl_info info;
    if (!dladdr(address, &info) || !info.dli_fname) return "nowhere";
    const char *slash = strrchr(info.dli_fname, '/');
    return slash ? slash + 1 : info.dli_fname;
}

static const char *name_of(const void *address) {
    static Dl_info info;
    for (int i = 0; i < known_count; i++)
        if (known[i].address == address) return known[i].name;
    if (dladdr(address, &info) && info.dli_saddr == address && info.dli_sname) return info.dli_sname;
    return "?";
}

static void tell(const char *what, void *address) {
    const char *error = dlerror();
    if (!address) printf("%s: null %s\n", what, error ? "with an error" : "without an error");
    else printf("%s: %s %s%s\n", what, file_of(address), name_of(address), error ? " with an error" : "");
}

static void call(const char *what, void *address) {
    naming naming_function = (naming)dlsym(handle, "fake_name");
    if (!address || !naming_function) { printf("%s: cannot be called\n", what); return; }
    unsigned code = ((function)address)(0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L);
    printf("%s: %s %s\n", what, file_of(address), naming_function(code));
}

static void proc(int entry_version, void *entry, const char *name, int version, int flags) {
    void *found = 0;
    int status = -1;
    unsigned result = entry_version == 1 ? ((proc_v1)entry)(name, &found, version, flags)
                                         : ((proc_v2)entry)(name, &found, version, flags, &status);
    printf("proc%d %s %d %d: %u %d %s %s\n", entry_version, name, version, flags, result, status,
           found ? file_of(found) : "null", found ? name_of(found) : "null");
}

int main(void) {
    char line[512], verb[32], one[256], two[64];
    int version, flags;
    setvbuf(stdout, 0, _IOLBF, 0);
    while (fgets(line, sizeof line, stdin)) {
        *one = *two = 0;
        sscanf(line, "%31s %255s %63s", verb, one, two);
        dlerror();
        if (!strcmp(verb, "open")) {
            handle = dlopen(*one == '-' ? 0 : one, atoi(two));
            printf("open: %s\n", handle ? "done" : "failed");
        } else if (!strcmp(verb, "newopen")) { // in a namespace of its own
            handle = dlmopen(LM_ID_NEWLM, one, atoi(two));
            printf("newopen: %s\n", handle ? "done" : "failed");
        } else if (!strcmp(verb, "close")) {
            printf("close: %d\n", dlclose(handle));
        } else if (!strcmp(verb, "learn")) { // remembers whose address `sym` gives for this name; says nothing
            void *address = dlsym(handle, one);
            if (address && known_count < 2048) {
                known[known_count].address = address;
                snprintf(known[known_count++].name, 64, "%s", one);
            }
        } else if (!strcmp(verb, "sym")) tell(line[0] ? one : "", dlsym(handle, one));
        else if (!strcmp(verb, "default")) tell(one, dlsym(RTLD_DEFAULT, one));
        else if (!strcmp(verb, "next")) tell(one, dlsym(RTLD_NEXT, one));
        else if (!strcmp(verb, "vsym")) tell(one, dlvsym(handle, one, two));
        else if (!strcmp(verb, "vdefault")) tell(one, dlvsym(RTLD_DEFAULT, one, two));
        else if (!strcmp(verb, "vnext")) tell(one, dlvsym(RTLD_NEXT, one, two));
        else if (!strcmp(verb, "call")) call(one, dlsym(handle, one));
        else if (!strcmp(verb, "calldefault")) call(one, dlsym(RTLD_DEFAULT, one));
        else if (sscanf(line, "proc1 %255s %d %d", one, &version, &flags) == 3)
            proc(1, dlsym(handle, "cuGetProcAddress"), one, version, flags);
        else if (sscanf(line, "proc2 %255s %d %d", one, &version, &flags) == 3)
            proc(2, dlsym(handle, "cuGetProcAddress_v2"), one, version, flags);
        else if (sscanf(line, "self %d %255s", &version, one) == 2) { // asks through cuGetProcAddress asked for itself
            void *entry = 0;
            ((proc_v1)dlsym(handle, "cuGetProcAddress"))("cuGetProcAddress", &entry, version, 0);
            printf("self %d: %s %s\n", version, file_of(entry), name_of(entry));
            proc(version < 12000 ? 1 : 2, entry, one, version, 0);
        } else printf("unknown command: %s", line);
    }
    return 0;
}
