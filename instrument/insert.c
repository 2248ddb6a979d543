/* SPDX-License-Identifier: Apache-2.0 */
#include "instrument/insert.h"

uint32_t bbf__plan_site(const struct bbf_plan_class *c, enum bbf_site_kind kind,
                        struct bbf_cf_str class_name, struct bbf_cf_str method, const char *suffix,
                        struct bbf_cf_str descriptor, enum bbf_memory memory, bool harmless)
{
    char names[3][1024];
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
                                 .harmless = harmless};
    return c->sites->number(c->sites->ctx, &site);
}
