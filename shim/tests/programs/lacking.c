// Calls a function that a driver of CUDA 12.2 does not have.
#include <stdio.h>
unsigned cuCtxSynchronize_v2(void *);
int main(void) {
    printf("%u\n", cuCtxSynchronize_v2(0));
    return 0;
}
