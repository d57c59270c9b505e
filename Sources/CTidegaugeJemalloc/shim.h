#include <stddef.h>
/// Declared here rather than through <jemalloc/jemalloc.h>, whose macros redefine malloc for its importer.
int mallctl(const char *name, void *oldp, size_t *oldlenp, void *newp, size_t newlen);
