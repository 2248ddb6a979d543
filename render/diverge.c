/* SPDX-License-Identifier: Apache-2.0 */
#include "render/diverge.h"

#include <stdlib.h>

bool bbf_diverge_twins(const struct bbf_snapshot *s, uint32_t a, uint32_t b)
{
    return a != BBF_NO_NODE && b != BBF_NO_NODE && s->nodes[a].site == s->nodes[b].site &&
           s->nodes[a].ref != s->nodes[b].ref;
}

void bbf_divergences_free(struct bbf_divergences *divergences)
{
    free(divergences->rows);
    free(divergences->of_growth);
    free(divergences->of_leak);
    *divergences = (struct bbf_divergences){NULL, 0, NULL, NULL};
}
