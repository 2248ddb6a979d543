/* SPDX-License-Identifier: Apache-2.0 */
#include "client/symbols.h"

#include <dlfcn.h>
#include <string.h>

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
