/* trie/section.c with a way to change whose thread it takes this for. */
#include "trie/section.c"

void *schedule_section(void *other);

void *schedule_section(void *other)
{
    ck_epoch_record_t *was = mine;
    mine = other;
    return was;
}
