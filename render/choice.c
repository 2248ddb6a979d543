/* SPDX-License-Identifier: Apache-2.0 */
#include "render/choice.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/err.h"
#include "render/names.h"
#include "render/text.h"

bool bbf_choice_is_set(const struct bbf_choice *c)
{
    return c->lost || c->memories != 0 || c->older != 0 || c->path != NULL || c->is != BBF_RATE_ANY;
}

bool bbf_choice_parse_rate(const char *text, struct bbf_choice *choice)
{
    char *end;

    if (*text != '>' && *text != '<')
        return false;
    choice->is = *text == '>' ? BBF_RATE_ABOVE : BBF_RATE_BELOW;
    text++;
    if ((*text < '0' || *text > '9') && *text != '.')
        return false;
    choice->percent = strtod(text, &end);
    return *end == '%' && end[1] == '\0' && choice->percent >= 0 && choice->percent <= 100;
}

bool bbf_choice_parse_memory(const char *text, struct bbf_choice *choice)
{
    choice->memories = 0;
    for (;;) {
        size_t len = strcspn(text, "+");
        unsigned memory = BBF_MEM_DIRECT;
        for (; memory <= BBF_MEM_UNKNOWN; memory++) {
            const char *name = bbf_memory_name((enum bbf_memory)memory);
            if (strlen(name) == len && memcmp(name, text, len) == 0)
                break;
        }
        if (memory > BBF_MEM_UNKNOWN)
            return false;
        choice->memories |= 1U << memory;
        if (text[len] == '\0')
            return true;
        text += len + 1;
    }
}

/* ---- names ---- */

static bool is_boundary(char c)
{
    return c == '\0' || c == '.' || c == '$';
}

static bool is_same(char a, char b)
{
    return a == b || (a == '$' && b == '.');
}

static bool begins_here(const char *name, const char *pattern)
{
    while (*pattern != '\0' && is_same(*name, *pattern)) {
        name++;
        pattern++;
    }
    return *pattern == '\0' && is_boundary(*name);
}

bool bbf_site_has_name(const struct bbf_snap_site *site, const char *pattern)
{
    struct bbf_buf name = BBF_BUF_INIT;
    bool found = false;

    bbf_site_full_name(&name, site);
    const char *text = bbf_buf_cstr(&name);
    for (const char *at = text; !found && *at != '\0'; at++)
        found = (at == text || is_boundary(at[-1])) && begins_here(at, pattern);
    bbf_buf_free(&name);
    return found;
}

/* ---- what is shown ---- */

/* By node: does a step on the way to it have the name? NULL: no memory. */
static bool *passes(const struct bbf_snapshot *s, const uint32_t *parents, const char *path)
{
    bool *has = calloc(s->n_sites + 1, sizeof *has);
    bool *passes = calloc(s->n_nodes + 1, sizeof *passes);

    if (has == NULL || passes == NULL) {
        free(has);
        free(passes);
        return NULL;
    }
    for (size_t i = 0; i < s->n_sites; i++)
        has[i] = path == NULL || bbf_site_has_name(&s->sites[i], path);
    for (size_t i = 0; i < s->n_nodes; i++) {
        uint32_t parent = parents[i];
        passes[i] = has[s->nodes[i].site] || (parent != BBF_NO_PARENT && passes[parent]);
    }
    free(has);
    return passes;
}

static bool row_matches(const struct bbf_choice *c, const struct bbf_snap_leak *leak)
{
    return (!c->lost || leak->verdict == BBF_VERDICT_LEAKED) &&
           (c->memories == 0 || (c->memories >> leak->memory & 1) != 0) &&
           leak->oldest_seconds >= c->older;
}

static bool rate_matches(const struct bbf_choice *c, const struct bbf_divergence *d)
{
    const double percent =
        d->passed != 0 ? 100.0 * (double)(d->leaked + d->aged) / (double)d->passed : 0;

    return c->is == BBF_RATE_ANY ||
           (c->is == BBF_RATE_ABOVE ? percent > c->percent : percent < c->percent);
}

static void choose(struct bbf_chosen *chosen, const struct bbf_snapshot *s,
                   const struct bbf_divergences *all, const struct bbf_choice *choice,
                   const bool *on_path)
{
    bool *by_rate = chosen->entries; /* first the rate, then what is shown */

    for (size_t i = 0; i < all->count; i++)
        by_rate[all->rows[i].number] = rate_matches(choice, &all->rows[i]);
    for (size_t i = 0; i < s->n_leaks; i++)
        chosen->leaks[i] = row_matches(choice, &s->leaks[i]) && on_path[s->leaks[i].node] &&
                           by_rate[all->of_leak[i]];
    memset(chosen->entries, 0, all->count * sizeof *chosen->entries);
    for (size_t i = 0; i < s->n_leaks; i++)
        if (chosen->leaks[i])
            chosen->entries[all->of_leak[i]] = true;
    for (size_t i = 0; i < all->count; i++)
        chosen->n_entries += chosen->entries[i];
}

int bbf_chosen_init(struct bbf_chosen *chosen, const struct bbf_snapshot *snapshot,
                    const uint32_t *parents, const struct bbf_divergences *divergences,
                    const struct bbf_choice *choice)
{
    bool *on_path = passes(snapshot, parents, choice->path);

    chosen->n_entries = 0;
    chosen->leaks = calloc(snapshot->n_leaks + 1, sizeof *chosen->leaks);
    chosen->entries = calloc(divergences->count + 1, sizeof *chosen->entries);
    if (on_path == NULL || chosen->leaks == NULL || chosen->entries == NULL) {
        free(on_path);
        bbf_chosen_free(chosen);
        return BBF_ENOMEM;
    }
    choose(chosen, snapshot, divergences, choice, on_path);
    free(on_path);
    return BBF_OK;
}

void bbf_chosen_free(struct bbf_chosen *chosen)
{
    free(chosen->entries);
    free(chosen->leaks);
    *chosen = (struct bbf_chosen){NULL, NULL, 0};
}

void bbf_choice_text(struct bbf_buf *out, const struct bbf_choice *c)
{
    const char *glue = "--memory ";

    bbf_buf_str(out, c->lost ? "--lost " : "");
    for (unsigned memory = BBF_MEM_DIRECT; memory <= BBF_MEM_UNKNOWN; memory++)
        if ((c->memories >> memory & 1) != 0) {
            bbf_buf_printf(out, "%s%s", glue, bbf_memory_name((enum bbf_memory)memory));
            glue = "+";
        }
    bbf_buf_str(out, c->memories != 0 ? " " : "");
    if (c->older != 0)
        bbf_buf_printf(out, "--older %" PRIu64 "s ", c->older);
    if (c->is != BBF_RATE_ANY)
        bbf_buf_printf(out, "--rate '%c%g%%' ", c->is == BBF_RATE_ABOVE ? '>' : '<', c->percent);
    if (c->path != NULL) {
        bbf_buf_str(out, "--path ");
        bbf_text_safe(out, c->path, '\0');
        bbf_buf_char(out, ' ');
    }
    if (out->len > 0 && out->data[out->len - 1] == ' ')
        out->len--;
}
