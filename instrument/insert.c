/* SPDX-License-Identifier: Apache-2.0 */
#include "instrument/insert.h"

#include <stdio.h>

/* "a/Owner.method" for a local or anonymous class; "" for others, and where it does not fit. */
static void find_enclosing(const struct bbf_cf_method *m, char *to, size_t size)
{
    struct bbf_cf_str class_name, method;

    to[0] = '\0';
    if (memchr(m->class_name.s, '$', m->class_name.len) != NULL &&
        bbf_cf_enclosing(m, &class_name, &method) && class_name.len + method.len + 2 <= size)
        snprintf(to, size, "%.*s.%.*s", (int)class_name.len, class_name.s, (int)method.len,
                 method.s);
}

uint32_t bbf__plan_site(const struct bbf_plan_class *c, enum bbf_site_kind kind,
                        struct bbf_cf_str class_name, struct bbf_cf_str method, const char *suffix,
                        struct bbf_cf_str descriptor, enum bbf_memory memory, bool harmless)
{
    char names[3][1024], enclosing[1024] = "";
    size_t extra = strlen(suffix);
    if (class_name.len >= sizeof *names || method.len + extra >= sizeof *names)
        return 0;
    memcpy(names[0], class_name.s, class_name.len);
    names[0][class_name.len] = '\0';
    memcpy(names[1], method.s, method.len);
    memcpy(names[1] + method.len, suffix, extra + 1);
    size_t len = descriptor.len < sizeof *names ? descriptor.len : sizeof *names - 1;
    memcpy(names[2], descriptor.s, len);
    names[2][len] = '\0';
    struct bbf_plan_site site = {.class_name = names[0],
                                 .method = names[1],
                                 .descriptor = names[2],
                                 .kind = kind,
                                 .memory = memory,
                                 .harmless = harmless,
                                 .enclosing = enclosing};
    const struct bbf_cf_method *m = c->method;
    /* A root may have another name than the method that begins it: then the line is not its. */
    if (m != NULL && m->class_name.s == class_name.s && m->name.s == method.s) {
        site.line = bbf_cf_line(m);
        find_enclosing(m, enclosing, sizeof enclosing);
    }
    return c->sites->number(c->sites->ctx, &site);
}
