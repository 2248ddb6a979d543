/* SPDX-License-Identifier: Apache-2.0 */
/*
 * render/diverge.h - the divergence point of each leak: the last step that lives which were
 * released share with those that were lost, the branch that loses them, and the branch that does
 * not.
 *
 *   root ── A.read ─┬─ A.done ── release [990]      shared: A.read   kept: A.done
 *                   └─ A.check ── A.onError  LEAK 8  losing: A.check  last: A.onError
 *
 * A derived life (a retained slice) is compared with derived lives only: it begins at its derive
 * step, and does not count as a life of the path that it was derived on. If some lives end at a
 * step and others continue from it, losing = shared. If no life of the origin was released, there
 * is no shared step, and losing = origin.
 *
 * render/diverge_find.h finds them. Threads: one owner. Units: lives, bytes. Nodes are
 * indexes into snapshot->nodes.
 */
#ifndef BBF_RENDER_DIVERGE_H
#define BBF_RENDER_DIVERGE_H

#include "snapshot/snapshot.h"

enum { BBF_NO_NODE = UINT32_MAX, BBF_MOST = 3 };

struct bbf_lost_in {
    uint32_t node; /* the step of the method that lost most */
    uint64_t lives;
};

struct bbf_divergence {
    uint32_t number; /* in bbf_divergences.of_growth and of_leak */
    uint32_t origin; /* the root, or the derive step of derived lives */
    uint32_t shared; /* BBF_NO_NODE: no life of the origin was released */
    uint32_t losing; /* first step of the branch below `shared` in which nothing is released */
    uint32_t last;   /* the step of the branch where most of them were lost */
    uint32_t kept;   /* first step of the branch through which most were released; BBF_NO_NODE: they
                        were released at `shared`, or none was */
    struct bbf_lost_in
        most[BBF_MOST]; /* the methods that lost most, most first; lives 0: no more */
    uint64_t beyond;    /* lost where recording stopped (maxDepth): not part of `most` */
    uint32_t ends;      /* methods in which lives were lost */
    uint32_t ways;      /* paths that end in the method of `last` */
    uint32_t branches;  /* that lose them: all names above are of the one that loses most */
    uint32_t places; /* steps at which these branches leave the others: `shared` is one of them */
    bool loop;       /* the last steps are part of a loop: a path goes round any number of times */
    enum bbf_memory memory;  /* of most of those lost at `last` */
    unsigned memories;       /* bits 1 << enum bbf_memory, of all of them */
    unsigned rank;           /* of the worst of them: bbf_leak_rank() */
    uint64_t leaked, aged;   /* lost in the branch: proven, and open for too long */
    uint64_t bytes;          /* of both */
    uint64_t oldest_seconds; /* of the aged */
    uint64_t passed;        /* lives that reached one of the places, or were opened by the origin */
    uint64_t released;      /* of these, released on any way */
    uint64_t kept_released; /* through `kept`, of those that reached `shared` */
};

struct bbf_divergences {
    struct bbf_divergence *rows; /* by rank, then most bytes, then most lives, then by node */
    size_t count;
    uint32_t *of_growth;  /* by row of snapshot->growth: number of the divergence that lost those
                             lives; BBF_NO_NODE: none */
    uint32_t *of_context; /* the same by row of snapshot->contexts */
    uint32_t *of_leak;    /* the same by row of snapshot->leaks: never BBF_NO_NODE */
};

void bbf_divergences_free(struct bbf_divergences *divergences);

/* Do two steps differ by the reference count alone? Then it is what a reader must see. */
bool bbf_diverge_twins(const struct bbf_snapshot *snapshot, uint32_t a, uint32_t b);

#endif
