// Lives through what processes live through, with the driver in use, and prints a line for each that it survived.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *driver;
static unsigned (*alloc)(void *, unsigned long);
static const char *(*name)(unsigned);

static void at_exit(void) {
    printf("exit handler: %s\n", name(alloc(0, 0)));
    fflush(stdout);
}
static __attribute__((destructor)) void destructor(void) {
    if (alloc) printf("destructor: %s\n", name(alloc(0, 0)));
    fflush(stdout);
}
static void say_status(const char *what, pid_t child) {
    int status = -1;
    waitpid(child, &status, 0);
    printf("%s: %d\n", what, WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
    fflush(stdout);
}
static int look_up_again(void) {
    void *handle = dlopen(driver, RTLD_LAZY);
    unsigned (*again)(void *, unsigned long) = (unsigned (*)(void *, unsigned long))dlsym(handle, "cuMemAlloc_v2");
    return again == alloc && !strcmp(name(alloc(0, 0)), "cuMemAlloc_v2") ? 7 : 8;
}
static void *thread(void *unused) { return look_up_again() == 7 ? unused : 0; }
static volatile int stop;
static void *busy(void *unused) {
    while (!stop) look_up_again();
    return unused;
}

int main(int count, char **arguments) {
    if (count > 2) { // after exec
        void *fresh = dlopen(arguments[1], RTLD_LAZY);
        return dlsym(fresh, "cuMemAlloc_v2") ? 9 : 1;
    }
    driver = arguments[1];
    void *handle = dlopen(driver, RTLD_LAZY);
    alloc = (unsigned (*)(void *, unsigned long))dlsym(handle, "cuMemAlloc_v2");
    name = (const char *(*)(unsigned))dlsym(handle, "fake_name");
    atexit(at_exit);

    pid_t child = fork();
    if (!child) _exit(look_up_again());
    say_status("fork", child);

    child = fork();
    if (!child) {
        execl(arguments[0], arguments[0], driver, "again", (char *)0);
        _exit(1);
    }
    say_status("fork and exec", child);

    child = vfork();
    if (!child) {
        execl(arguments[0], arguments[0], driver, "again", (char *)0);
        _exit(1);
    }
    say_status("vfork and exec", child);

    // Children of a process whose other thread is in the middle of a look-up.
    pthread_t worker;
    pthread_create(&worker, 0, busy, &worker);
    int bad = 0;
    for (int i = 0; i < 200; i++) {
        int status = -1;
        child = fork();
        if (!child) _exit(alloc(0, 0) == 0);
        waitpid(child, &status, 0);
        bad += status != 0;
    }
    stop = 1;
    pthread_join(worker, 0);
    printf("forks beside a busy thread that failed: %d\n", bad);

    pthread_t other;
    void *result = 0;
    pthread_create(&other, 0, thread, &other);
    pthread_join(other, &result);
    printf("other thread: %s\n", result ? "same" : "differs");

    dlclose(handle);
    dlclose(dlopen(driver, RTLD_LAZY));
    printf("after dlclose: %s\n", name(alloc(0, 0)));
    printf("opened again: %s\n", look_up_again() == 7 ? "same" : "differs");
    fflush(stdout);
    return 0;
}
