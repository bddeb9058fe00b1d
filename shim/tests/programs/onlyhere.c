// A library that only the RUNPATH of its user leads to.
int only_here = 1;
