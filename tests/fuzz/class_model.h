/*
 * tests/fuzz/class_model.h - a class file taken apart so that it can be changed and written again:
 * a place in code is named by its instruction, not by an offset, so that jumps, ranges, frames and
 * debug tables follow when code is inserted or lengthened. The written class may be wrong on
 * purpose.
 * Specification: JVMS (Java SE 25) ch. 4.
 *
 * Memory: one static arena, which cm_read() empties; pointers into the model end there. Running
 * out of it jumps to cm_full. Threads: one at a time.
 */
#ifndef BBF_TEST_CLASS_MODEL_H
#define BBF_TEST_CLASS_MODEL_H

#include "classfile/bytes.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern jmp_buf cm_full;
void *cm_alloc(size_t size);

/* `plus` bytes behind the instruction `id`; id 0 is the end of the code. */
struct cm_ref {
    uint32_t id;
    int32_t plus;
};

struct cm_switch {
    struct cm_ref other; /* default */
    uint32_t n;
    int32_t *keys;
    struct cm_ref *targets;
    int32_t lie; /* added to npairs, or to high */
};

struct cm_insn {
    uint32_t id;
    uint8_t len, bytes[6];   /* as encoded; of a jump only bytes[0] counts, of a switch likewise */
    struct cm_ref target;    /* of a branch */
    struct cm_switch *table; /* of a switch */
};

/* verification_type_info */
struct cm_type {
    uint8_t tag;
    uint16_t index;      /* 7: of the Class constant; 0: named by `text` */
    const uint8_t *text; /* internal name, from a descriptor */
    uint16_t text_len;
    struct cm_ref at; /* 8 */
};

enum cm_form { CM_SHORT, CM_FULL, CM_EXTENDED };

struct cm_frame {
    struct cm_ref at;
    enum cm_form form; /* wished for; what cannot be said in it becomes a full frame */
    uint32_t n_locals, n_stack;
    struct cm_type *locals, *stack;
};

struct cm_handler {
    struct cm_ref start, end, handler;
    uint16_t type;
};

/* A row of a LineNumberTable, LocalVariableTable or LocalVariableTypeTable. */
struct cm_row {
    struct cm_ref start, end; /* end: not of lines */
    uint8_t rest[6];
};

enum cm_kind { CM_RAW, CM_CODE, CM_FRAMES, CM_LINES, CM_LOCALS };

struct cm_attr {
    uint16_t name;
    enum cm_kind kind;
    int32_t lie; /* added to the length */
    uint32_t n;  /* bytes, frames or rows */
    uint8_t *bytes;
    struct cm_code *code;
    struct cm_frame *frames;
    struct cm_row *rows;
};

struct cm_attrs {
    uint32_t n;
    struct cm_attr *at;
    int32_t lie; /* added to the count */
};

struct cm_code {
    uint16_t max_stack, max_locals;
    uint32_t n, next_id;
    struct cm_insn *insns;
    uint32_t n_handlers;
    struct cm_handler *handlers;
    struct cm_attrs attrs;
    int32_t lie;  /* added to code_length */
    uint32_t *pc; /* while it is written: of each id */
};

struct cm_member {
    uint16_t access, name, descriptor;
    struct cm_attrs attrs;
};

struct cm_members {
    uint32_t n;
    struct cm_member *at;
    int32_t lie;
};

struct cm_constant {
    uint8_t *bytes; /* tag first; NULL: the second half of a long or double */
    uint32_t len;
};

struct cm_class {
    uint8_t head[8]; /* magic, minor, major */
    uint32_t n_pool; /* constant_pool_count */
    struct cm_constant *pool;
    uint16_t access, self, super;
    uint32_t n_interfaces;
    uint8_t *interfaces;
    struct cm_members fields, methods;
    struct cm_attrs attrs;
    int32_t pool_lie;
};

/* False: our own reader refuses it. A Code that cannot be walked stays CM_RAW. */
bool cm_read(struct cm_class *c, const uint8_t *data, size_t len);
/* The same, but what was read before stays. */
bool cm_read_more(struct cm_class *c, const uint8_t *data, size_t len);
/* The bytes written, or 0 if that were more than `max`. */
size_t cm_write(struct cm_class *c, uint8_t *to, size_t max);

/* The text of a Utf8 constant; false: it is another constant. */
bool cm_text(const struct cm_class *c, uint32_t index, const uint8_t **text, uint32_t *len);
/* Append a constant; 0: the pool is full. */
uint16_t cm_constant_add(struct cm_class *c, const uint8_t *bytes, uint32_t len);
uint16_t cm_utf8_add(struct cm_class *c, const char *text, size_t len);

/* Room for `more` elements at `at` of an array of *n; the elements there move up. Zeroed. */
void *cm_open(void *array, uint32_t *n, uint32_t at, uint32_t more, size_t size);
/* Take one element out. */
void cm_remove(void *array, uint32_t *n, uint32_t at, size_t size);

#endif
