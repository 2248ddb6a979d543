#include "tests/fuzz/class_mutator.h"

#include "tests/fuzz/class_change.h"

#include <stdio.h>
#include <string.h>

/* A method with code, if there is one. */
static void pick_method(struct cm_work *x)
{
    struct cm_members *methods = &x->c->methods;
    uint32_t from = cm_draw(x, methods->n);

    x->method = NULL;
    x->code = NULL;
    x->frames = NULL;
    for (uint32_t k = 0; k < methods->n && x->code == NULL; k++) {
        x->method = &methods->at[(from + k) % methods->n];
        for (uint32_t a = 0; a < x->method->attrs.n; a++)
            if (x->method->attrs.at[a].kind == CM_CODE && x->method->attrs.at[a].code->n > 0)
                x->code = x->method->attrs.at[a].code;
    }
    for (uint32_t a = 0; x->code != NULL && a < x->code->attrs.n; a++)
        if (x->code->attrs.at[a].kind == CM_FRAMES)
            x->frames = &x->code->attrs.at[a];
}

static const char *change_once(struct cm_work *x, unsigned breaking)
{
    for (int tries = 0; tries < 30; tries++) {
        const struct cm_change *kind = cm_draw(x, 100) < breaking ? cm_breaking : cm_keeping;
        uint32_t n = 0;

        while (kind[n].apply != NULL)
            n++;
        kind += cm_draw(x, n);
        pick_method(x);
        if ((x->code != NULL || !kind->code) && kind->apply(x))
            return kind->name;
    }
    return "none";
}

size_t class_mutate(const uint8_t *in, size_t len, uint8_t *out, size_t max, uint64_t seed,
                    unsigned changes, unsigned breaking, char *names, size_t names_len)
{
    static struct cm_class c;
    struct cm_work x = {.c = &c, .random = seed};

    if (setjmp(cm_full) != 0 || !cm_read(&c, in, len))
        return 0;
    if (names != NULL)
        names[0] = '\0';
    for (unsigned i = 0; i < changes; i++) {
        const char *name = change_once(&x, breaking);
        size_t used = names != NULL ? strlen(names) : 0;

        if (names != NULL)
            snprintf(names + used, names_len - used, "%s%s", used > 0 ? "," : "", name);
    }
    return cm_write(&c, out, max);
}

/* ---- two classes ---- */

size_t class_cross(const uint8_t *in, size_t len, const uint8_t *other, size_t other_len,
                   uint8_t *out, size_t max, uint64_t seed)
{
    static struct cm_class c;
    static struct cm_class o;
    struct cm_work x = {.c = &o, .random = seed}, y = {.c = &c, .random = ~seed};

    if (setjmp(cm_full) != 0 || !cm_read(&o, other, other_len) || !cm_read_more(&c, in, len))
        return 0;
    pick_method(&x);
    pick_method(&y);
    if (x.code == NULL || y.code == NULL)
        return 0;
    switch (cm_draw(&x, 4)) {
    case 0: /* another method's code, as it is */
        *y.code = *x.code;
        break;
    case 1: { /* some of its instructions; their jumps go wherever the ids lead */
        uint32_t from = cm_draw(&x, x.code->n), n = 1 + cm_draw(&x, 12),
                 at = cm_draw(&y, y.code->n);

        if (n > x.code->n - from)
            n = x.code->n - from;
        struct cm_insn *new = cm_insert(&y, at, n, false);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t id = new[i].id;

            new[i] = x.code->insns[from + i];
            new[i].id = id;
        }
        break;
    }
    case 2: /* its attributes: frames, lines, locals of other code */
        y.code->attrs = x.code->attrs;
        break;
    default: /* constants */
        for (uint32_t i = 0, at = cm_draw(&x, o.n_pool); i < 8 && at + i < o.n_pool; i++)
            if (at + i < c.n_pool && c.pool[at + i].bytes != NULL && o.pool[at + i].bytes != NULL)
                c.pool[at + i] = o.pool[at + i];
    }
    return cm_write(&c, out, max);
}
