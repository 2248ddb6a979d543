/* SPDX-License-Identifier: Apache-2.0 */
#include "client/symbols.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#ifdef BBF_STATIC
enum { IS_STATIC = true };
#else
enum { IS_STATIC = false };
#endif

bool bbf_symbols_open(void **library, const char *const *names, const struct bbf_symbol *symbols,
                      size_t n)
{
    bool all = true;

    *library = NULL;
    for (; *names != NULL && *library == NULL; names++)
        *library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; i < n && *library != NULL; i++) {
        void *found = dlsym(*library, symbols[i].name);
        memcpy(symbols[i].to, &found, sizeof found);
        all = all && found != NULL;
    }
    return *library != NULL && all;
}

bool bbf_symbols_cannot(const char *name, char *why, size_t why_size)
{
    if (IS_STATIC)
        snprintf(why, why_size,
                 "this bbflow is a static file, which cannot load %s; bbflow-dynamic, beside it in "
                 "the archive, and the bbflow of the Debian package can",
                 name);
    return IS_STATIC;
}
