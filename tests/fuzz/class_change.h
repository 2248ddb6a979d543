/*
 * tests/fuzz/class_change.h - one change of a class file: what it is given, what it draws from, and
 * the two tables of changes (class_keep.c, class_break.c).
 */
#ifndef BBF_TEST_CLASS_CHANGE_H
#define BBF_TEST_CLASS_CHANGE_H

#include "tests/fuzz/class_model.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    OP_ACONST_NULL = 1,
    OP_BIPUSH = 16,
    OP_SIPUSH = 17,
    OP_LDC = 18,
    OP_LDC_W = 19,
    OP_ISTORE = 54,
    OP_POP2 = 88,
    OP_GOTO = 167,
    OP_RET = 169,
    OP_LOOKUPSWITCH = 171,
    OP_NEW = 187,
    OP_GOTO_W = 200,
};

/* The class that is being changed, and one of its methods with code, if there is one. */
struct cm_work {
    struct cm_class *c;
    struct cm_member *method;
    struct cm_code *code;
    struct cm_attr *frames; /* of the code; NULL: none */
    uint64_t random;
};

/* Below `below`; 0 if that is 0. */
uint32_t cm_draw(struct cm_work *x, uint32_t below);
/* Numbers at which something happens. */
uint32_t cm_odd_number(struct cm_work *x);
/* What a change is made to: any of its sort, NULL if there is none. cm_insn_of: one with opcode
 * first..last, cm_constant_any: likewise by tag. cm_attrs_any: those of the code more often. */
struct cm_insn *cm_insn_any(struct cm_work *x);
struct cm_insn *cm_insn_of(struct cm_work *x, unsigned first, unsigned last);
struct cm_ref cm_ref_any(struct cm_work *x);
struct cm_frame *cm_frame_any(struct cm_work *x);
struct cm_attrs *cm_attrs_any(struct cm_work *x);
struct cm_constant *cm_constant_any(struct cm_work *x, unsigned first, unsigned last);
void cm_insn_set(struct cm_insn *i, const uint8_t *bytes, uint8_t len);
/*
 * `more` nops before the instruction at `at`. If `taken`, what refers to that instruction refers to
 * the first nop from now on (not so for `new`: frames mean the instruction itself).
 */
struct cm_insn *cm_insert(struct cm_work *x, uint32_t at, uint32_t more, bool taken);
void cm_stack_needs(struct cm_work *x, uint32_t more);

/* A change; a table ends with NULL. */
struct cm_change {
    const char *name;
    bool (*apply)(struct cm_work *x); /* false: there is nothing of that sort here */
    bool code;                        /* needs a method with code */
};

extern const struct cm_change cm_keeping[], cm_breaking[];

#endif
