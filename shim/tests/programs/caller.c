// Calls a function of libc that an interposing library wraps by RTLD_NEXT.
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void) {
    pid_t answer = getpid();
    printf("%s\n", answer == syscall(SYS_getpid) ? "right" : "wrong");
    return 0;
}
