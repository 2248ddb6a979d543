/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/sites.h"

#include <string.h>

#include "agent/state.h"
#include "instrument/netty.h"

static uint32_t number(void *ctx, const struct bbf_plan_site *site)
{
    (void)ctx;
    const struct bbf_site like = {
        .class_name = (char *)site->class_name,
        .method = (char *)site->method,
        .descriptor = (char *)site->descriptor,
        .kind = site->kind,
        .memory = site->memory,
        .harmless = site->harmless,
        .line = site->line,
        .enclosing = (char *)site->enclosing,
        .internal = bbf_netty_internal(site->class_name, strlen(site->class_name))};
    return bbf_site_intern(bbf_agent.tracker, &like);
}

static void keep_facts(void *ctx, const struct bbf_plan_facts *f)
{
    (void)ctx;
    bbf_facts_put(bbf_agent.tracker, f->class_name.s, f->class_name.len, f->super_name.s,
                  f->super_name.len, f->block);
}

const struct bbf_plan_sites bbf_agent_sites = {.number = number, .keep_facts = keep_facts};
