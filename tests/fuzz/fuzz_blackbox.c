/* link: bbf_core */
/*
 * Any bytes as the file of blackbox=. A refusal has a reason; what is taken is inside the bytes.
 * Hashes stop random changes at once, so the same bytes are read again with each hash made right.
 */
#include "core/blackbox.h"
#include "core/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "fuzz_blackbox: %s\n", what);
        abort();
    }
}

static int read_all(struct bbf_box *box, const char *data, size_t size)
{
    char why[64] = "";
    int err = bbf_box_read(box, data, size, why, sizeof why);
    if (err != BBF_OK) {
        check(err == BBF_EFORMAT || err == BBF_EVERSION, "unexpected error");
        check(why[0] != '\0' && memchr(why, '\0', sizeof why) != NULL, "no reason given");
        return err;
    }
    check(memchr(box->head.main, '\0', sizeof box->head.main) != NULL, "main has no end");
    check(memchr(box->head.version, '\0', sizeof box->head.version) != NULL, "version has no end");
    if (box->document != NULL) {
        check(box->document >= data && box->slot.len <= size &&
                  box->document + box->slot.len <= data + size,
              "a document outside the file");
        check(box->slot.len <= box->head.slot_bytes, "a document outside its slot");
        static volatile char seen; /* the sanitizer looks at each byte */
        for (uint64_t i = 0; i < box->slot.len; i++)
            seen = box->document[i];
        (void)seen;
    }
    return BBF_OK;
}

/* The head, the beat and the slots as their fields say, with right hashes. */
static void mend(char *data, size_t size)
{
    struct bbf_box_head head = {.slot_bytes = 128};
    struct bbf_box_beat beat;
    struct bbf_box_slot slot;
    if (size < BBF_BOX_SLOTS_AT)
        return;
    memcpy(&head.slot_bytes, data + 48, sizeof head.slot_bytes);
    head.slot_bytes &= 0xffff;
    memcpy(head.main, data + 200, sizeof head.main - 1);
    head.main[sizeof head.main - 1] = '\0';
    bbf_box_put_head(data, &head);
    memcpy(&beat, data + 2000, sizeof beat);
    beat.state &= 3;
    bbf_box_put_beat(data + BBF_BOX_HEAD_BYTES, &beat);
    for (unsigned i = 0; i < BBF_BOX_SLOTS; i++) {
        uint64_t at = bbf_box_slot_at(head.slot_bytes, i), room = at < size ? size - at : 0;
        if (room < BBF_BOX_SLOT_HEAD || head.slot_bytes <= BBF_BOX_SLOT_HEAD)
            return;
        memcpy(&slot, data + at, sizeof slot);
        slot.len &= 0x1ff;
        /* The hash is of what is there; the length may say more. */
        uint64_t len = slot.len < room - BBF_BOX_SLOT_HEAD ? slot.len : 0;
        bbf_box_put_slot(data + at, &(struct bbf_box_slot){slot.number, 0, len},
                         data + at + BBF_BOX_SLOT_HEAD);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bbf_box box;
    char *copy = malloc(size > 0 ? size : 1); /* its end is the sanitizer's */
    check(copy != NULL, "no memory");
    memcpy(copy, data, size);
    (void)read_all(&box, copy, size);
    mend(copy, size);
    (void)read_all(&box, copy, size);
    free(copy);
    return 0;
}
