// Part of the fake driver: its number only if every argument arrived, or none was given.
unsigned cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared, void *stream, void **parameters, void **extra) {
    if (f == 0 && gx == 0 && parameters == 0) return CODE;
    return f == (void *)1 && gx == 2 && gy == 3 && gz == 4 && bx == 5 && by == 6 && bz == 7 && shared == 8 &&
           stream == (void *)9 && parameters == (void **)10 && extra == (void **)11 ? CODE : 1;
}
