// Part of the fake driver, behind its table: resolution as a real driver does it.
static void *resolve(const char *name, int version, unsigned long long flags, int *status) {
    int known = 0, twins = 0;
    void *found = 0;
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].family, name)) known = 1, twins |= rows[i].twin != 0;
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].family, name)) continue;
        if (twins && (flags & 2)) {
            if (rows[i].twin && rows[i].twin_introduced <= version) found = rows[i].twin;
        } else if (rows[i].introduced <= version) found = rows[i].plain;
    }
    *status = found ? 0 : known ? 2 : 1;
    return found;
}
unsigned cuGetProcAddress_v2(const char *name, void **to, int version, unsigned long long flags, int *status) {
    int own;
    if (!name || !to) return 1;
    *to = resolve(name, version, flags, status ? status : &own);
    return 0;
}
unsigned cuGetProcAddress(const char *name, void **to, int version, unsigned long long flags) {
    int status;
    if (!name || !to) return 1;
    *to = resolve(name, version, flags, &status);
    return *to ? 0 : 500;
}
