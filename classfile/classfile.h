/* SPDX-License-Identifier: Apache-2.0 */
/*
 * classfile/classfile.h - class bytes in, class bytes out: inserts calls into methods in place (no
 * new locals, branches or frames, no dataflow analysis) and can append one field. It knows no JVM
 * and no buffers: the caller plans the calls of each method.
 * Specification: JVMS (Java SE 25) ch. 4; design.md: insertion.
 *
 * Invariants: the input is never written. Output is returned only after every offset in it was
 * recomputed and checked again. A method or class with anything unknown is left as it was, and the
 * cause is counted.
 *
 * Threads: any, no shared state.
 */
#ifndef BBF_CLASSFILE_H
#define BBF_CLASSFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bbf_fact_block;

/* Why a class is untouched; the first two are not failures. */
#define BBF_CF_CLASS_MAP(XX)                                                                       \
    XX(CHANGED, "changed")                                                                         \
    XX(NOTHING, "nothing to instrument")                                                           \
    XX(TRUNCATED, "truncated class file")                                                          \
    XX(MAGIC, "no class file")                                                                     \
    XX(VERSION, "unknown class file version")                                                      \
    XX(VALUE, "value class, a preview of the JVM")                                                 \
    XX(POOL, "malformed constant pool")                                                            \
    XX(POOL_FULL, "constant pool full")                                                            \
    XX(STRUCTURE, "malformed fields, methods or attributes")                                       \
    XX(NOMEM, "out of memory")

/*
 * The result for a method that the caller wanted to instrument. A method without any place for the
 * planned calls (say, all its returns are fluent) is not counted. A method without entry calls that
 * would need a branch over 32 KiB is LEFT_SIZE.
 */
#define BBF_CF_METHOD_MAP(XX)                                                                      \
    XX(FULL, "full")                                                                               \
    XX(ENTRY_JUMP, "entry only: a branch over 32 KiB")                                             \
    XX(ENTRY_SIZE, "entry only: method too large")                                                 \
    XX(LEFT_SIZE, "untouched: method too large")                                                   \
    XX(LEFT_CODE, "untouched: unknown or malformed code")                                          \
    XX(LEFT_FRAMES, "untouched: unknown or malformed StackMapTable")                               \
    XX(LEFT_TABLES, "untouched: malformed exception table or attributes")                          \
    XX(LEFT_THIS, "exit left out: a local that it loads may be overwritten by then")               \
    XX(LEFT_POOL, "untouched: no room in the constant pool")                                       \
    XX(LEFT_PLAN, "untouched: the planned calls do not fit the method")

enum bbf_cf_class_result {
#define XX(name, text) BBF_CF_##name,
    BBF_CF_CLASS_MAP(XX)
#undef XX
        BBF_CF_CLASS_RESULTS
};
enum bbf_cf_method_result {
#define XX(name, text) BBF_CF_METHOD_##name,
    BBF_CF_METHOD_MAP(XX)
#undef XX
        BBF_CF_METHOD_RESULTS
};
const char *bbf_cf_class_text(enum bbf_cf_class_result result);
const char *bbf_cf_method_text(enum bbf_cf_method_result result);

/* Counts of one call of bbf_cf_rewrite(); the caller adds them up. */
struct bbf_cf_stats {
    uint32_t methods[BBF_CF_METHOD_RESULTS];
};

/* What an inserted call pushes, in order. */
enum bbf_cf_push {
    BBF_CF_ALOAD,      /* value = local slot */
    BBF_CF_ILOAD,      /* value = local slot */
    BBF_CF_DUP,        /* the value about to be returned / just returned by an invoke / just cast */
    BBF_CF_INT,        /* value = constant 0..65535+, as iconst/bipush/sipush/ldc_w */
    BBF_CF_ARRAYLENGTH /* value = local slot of an array that is not null here */
};

enum { BBF_CF_MAX_ARGS = 6 };

/*
 * One inserted `invokestatic target`, whose arguments are pushed first. Locals must be parameters
 * of a matching type (ILOAD: int and narrower). DUP must come before all other arguments, and is
 * allowed only where a reference is on the stack (areturn, athrow, a handler, after a cast, after a
 * call that returns a reference). Otherwise the method is LEFT_PLAN.
 */
struct bbf_cf_call {
    uint16_t target; /* index into bbf_cf_config.targets */
    uint8_t n_args;
    struct {
        uint8_t push; /* enum bbf_cf_push */
        uint32_t value;
    } args[BBF_CF_MAX_ARGS];
    bool known; /* in place of a call, where after_call() returns false */
};

struct bbf_cf_target {
    const char *class_name; /* internal, java/lang/BBFlowShim */
    const char *method;
    const char *descriptor; /* returns void */
};

/* Not NUL-terminated, points into the class file. */
struct bbf_cf_str {
    const char *s;
    size_t len;
};

/* One method, as the planner sees it. Borrowed for the call. */
struct bbf_cf_method {
    struct bbf_cf_str class_name, super_name; /* internal; super "" for Object */
    uint16_t class_access;
    struct bbf_cf_str name, descriptor;
    struct bbf_cf_str signature; /* generic (JVMS 4.7.9.1), "" without; debug data, unchecked */
    uint16_t access;
    const struct bbf_cf_code *code; /* opaque, for the queries below */
};
/*
 * May local `slot` have lost its value of the entry by the time of an exit? True if an instruction
 * stores to it (xstore, iinc, wide forms, the second half of a long or double), if it is a
 * parameter and some StackMapTable frame does not have it with its type (a load could not be
 * verified), and for malformed code. Calls at exits that load such a local are left out
 * (LEFT_THIS).
 */
bool bbf_cf_stores_to(const struct bbf_cf_method *method, uint16_t slot);

/*
 * Does the method do nothing but call another of its class with the same name and return, and does
 * it pass on the parameters of `slots` (bit n: the one in slot n) as they are? Before that it may
 * call static methods that make other arguments, and are not given these. False for malformed code.
 */
bool bbf_cf_only_calls_overload(const struct bbf_cf_method *method, uint64_t slots);

/* The line of the method's first instruction; 0: the class file has no (valid) line numbers. */
uint32_t bbf_cf_line(const struct bbf_cf_method *method);
/* The class and the method (without descriptor) that a local or anonymous class was written in; the
 * method is "" for an initialiser. False: the class has no (valid) EnclosingMethod. */
bool bbf_cf_enclosing(const struct bbf_cf_method *method, struct bbf_cf_str *class_name,
                      struct bbf_cf_str *name);

enum { BBF_CF_MAX_ENTRY = 255, BBF_CF_MAX_EXIT = 4 };

/* A call in the code of a method. */
struct bbf_cf_called {
    struct bbf_cf_str owner, name, descriptor; /* owner "" for invokedynamic */
    uint8_t opcode;
};
/* What a called method does with an argument: flags of core/facts.h, and these. */
enum {
    BBF_CF_USE_SAME = 0x100, /* its result is the argument, or a view of it */
    BBF_CF_USE_LOOK = 0x200  /* its own facts decide; the flags hold where they are not known */
};

/* The plan of one method, zeroed before the planner is called. If it has no calls and after_call is
 * false, the method is left as it is. */
struct bbf_cf_plan {
    uint16_t n_entry;          /* calls at pc 0; those in <init> may load parameters only */
    struct bbf_cf_call *entry; /* room for BBF_CF_MAX_ENTRY */
    uint8_t n_areturn;         /* before each areturn */
    struct bbf_cf_call areturn[BBF_CF_MAX_EXIT];
    bool areturn_unless_fluent; /* not at `aload this|param; areturn`, `getfield; areturn` */
    uint8_t n_return;           /* before each (void) return; in <init> `this` may be loaded */
    struct bbf_cf_call vreturn[BBF_CF_MAX_EXIT];
    bool after_call;        /* ask after_call() and after_cast() for each site of this method */
    bool before_athrow_set; /* before each athrow: one call */
    struct bbf_cf_call before_athrow;
    /* Before each invokevirtual of a method of this name and descriptor: one call, without
     * BBF_CF_DUP. Name NULL: none. */
    const char *before_name, *before_descriptor;
    struct bbf_cf_call before_call;
    bool at_handler_set; /* where a handler of a class of exceptions begins: one call */
    struct bbf_cf_call at_handler;
};

struct bbf_cf_config {
    const struct bbf_cf_target *targets;
    size_t n_targets;
    /* Append this field if field_name is not NULL and the class has no field of that name. */
    const char *field_name, *field_descriptor;
    uint16_t field_access;

    void *ctx;
    /* Cheap filter: could a class with this Utf8 constant be of interest? The rest of the class is
     * parsed only if one answer is true. NULL: always. */
    bool (*interesting)(void *ctx, const char *utf8, size_t len);
    /* Plan one method that has a Code attribute. Called once for each such method, in order. */
    void (*plan)(void *ctx, const struct bbf_cf_method *method, struct bbf_cf_plan *plan);
    /* Plan the call after an invoke of owner.name descriptor, in a method with after_call. Fill
     * *call and return true to insert it. With false and call->known nothing is inserted, but a
     * cast of the result is `given` one. Not called for an invoke directly before areturn or pop,
     * unless always_after() says so. NULL: nothing is inserted after invokes. */
    bool (*after_call)(void *ctx, const struct bbf_cf_method *method, struct bbf_cf_str owner,
                       struct bbf_cf_str name, struct bbf_cf_str descriptor, uint8_t opcode,
                       struct bbf_cf_call *call);
    /* Is after_call() also called for such an invoke directly before areturn or pop? NULL: no. */
    bool (*always_after)(struct bbf_cf_str name, struct bbf_cf_str descriptor, uint8_t opcode);
    /* The same after a checkcast to the class `type` ("[…" for arrays). `given`: what is cast had
     * its call. Either the instruction before made it, and the call behind that is given it or
     * after_call() knows it; or that instruction loaded the variable of a parameter that a call at
     * the method's entry is given. NULL: nothing is inserted after casts. */
    bool (*after_cast)(void *ctx, const struct bbf_cf_method *method, struct bbf_cf_str type,
                       bool given, struct bbf_cf_call *call);
    /* Facts about parameters (classfile/params.h). The six are set together, or `facts` is NULL.
     * May a value of this type be or hold what is followed: 0, BBF_FACT_SEEN, or BBF_FACT_WEAK if
     * the type alone does not say so. Methods with such a parameter are looked at; with weak ones
     * only, or none, if code is inserted into them. */
    unsigned (*resource)(void *ctx, struct bbf_cf_str type);
    /* What the called method does with that argument (the receiver counts, as 0): BBF_FACT_,
     * BBF_CF_USE_. */
    unsigned (*use_of)(void *ctx, const struct bbf_cf_called *called, unsigned argument);
    /* May the called method be on a path? Its call is then reported even without an argument that
     * is followed. */
    bool (*is_step)(void *ctx, const struct bbf_cf_called *called);
    /* Is the called method's result, whose type is a buffer or holder, the caller's to release? */
    bool (*makes)(void *ctx, const struct bbf_cf_called *called);
    /* How likely the called method throws: 0 not worth a word, else 1 (likely) to 3. */
    unsigned (*may_throw)(void *ctx, const struct bbf_cf_called *called);
    /* Once for a class that has such records (core/facts.h), borrowed for the call. */
    void (*facts)(void *ctx, struct bbf_cf_str class_name, struct bbf_cf_str super_name,
                  const struct bbf_fact_block *block);
    /* Allocates the memory of the new class. NULL: malloc. */
    uint8_t *(*allocate)(void *ctx, size_t size);
};

/*
 * Rewrite `in`. On BBF_CF_CHANGED *out (from config->allocate) and *out_len are the new class,
 * which the caller owns; otherwise *out is NULL and the caller leaves the class as it is. `stats`
 * is zeroed and filled.
 */
enum bbf_cf_class_result bbf_cf_rewrite(const uint8_t *in, size_t len,
                                        const struct bbf_cf_config *config, uint8_t **out,
                                        size_t *out_len, struct bbf_cf_stats *stats);

/*
 * The shape of a class: is it an interface, does it extend java/lang/Object directly, how many
 * instance fields does it declare, and is one of them named `field`? Errors: BBF_EFORMAT.
 */
struct bbf_cf_shape {
    bool is_interface, extends_object, has_field;
    unsigned instance_fields;
};
int bbf_cf_shape_of(const uint8_t *in, size_t len, const char *field, struct bbf_cf_shape *shape);

/*
 * The head and the instance fields of a class: first each field, then the super class and the
 * interfaces, by internal name. Texts are borrowed for the call. Errors: BBF_EFORMAT, BBF_ENOMEM,
 * with nothing visited.
 */
struct bbf_cf_outline {
    void *ctx;
    void (*super)(void *ctx, struct bbf_cf_str name, bool interface);
    void (*field)(void *ctx, struct bbf_cf_str name, struct bbf_cf_str descriptor);
};
int bbf_cf_outline(const uint8_t *in, size_t len, const struct bbf_cf_outline *outline);

/* Is one of the Utf8 constants of interest, in a constant pool of `count` - 1 constants without the
 * class around it? False from the first malformed one on. */
bool bbf_cf_pool_has(const uint8_t *pool, size_t len, unsigned count,
                     bool (*interesting)(void *ctx, const char *utf8, size_t len), void *ctx);

/*
 * Replace each Utf8 constant that equals `from` by `to` (lengths may differ). This lets one shim
 * class serve JDKs that name a method differently. *out is malloc'd; the caller frees it. Errors:
 * BBF_EFORMAT, BBF_ENOMEM.
 */
struct bbf_cf_rename {
    const char *from, *to;
};
int bbf_cf_rename_utf8(const uint8_t *in, size_t len, const struct bbf_cf_rename *renames,
                       size_t n_renames, uint8_t **out, size_t *out_len);

#endif
