/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jfr/types.h - the types of a chunk, read from its metadata event.
 *
 * Threads: constant once read. Text: UTF-8, NUL-terminated, owned by the metadata.
 */
#ifndef BBF_JFR_TYPES_H
#define BBF_JFR_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jfr/arena.h"
#include "jfr/decode.h"

enum bbf_jfr_kind {
    BBF_JFR_KIND_BOOLEAN,
    BBF_JFR_KIND_BYTE,
    BBF_JFR_KIND_CHAR,
    BBF_JFR_KIND_SHORT,
    BBF_JFR_KIND_INT,
    BBF_JFR_KIND_LONG,
    BBF_JFR_KIND_FLOAT,
    BBF_JFR_KIND_DOUBLE,
    BBF_JFR_KIND_STRING,
    BBF_JFR_KIND_STRUCT
};

/* What a number means: the annotation jdk.jfr.Timestamp or Timespan and its unit. */
enum bbf_jfr_time {
    BBF_JFR_TIME_NONE,
    BBF_JFR_TIMESTAMP_TICKS,
    BBF_JFR_TIMESTAMP_SECONDS,
    BBF_JFR_TIMESTAMP_MILLIS,
    BBF_JFR_TIMESTAMP_NANOS,
    BBF_JFR_TIMESPAN_TICKS,
    BBF_JFR_TIMESPAN_SECONDS,
    BBF_JFR_TIMESPAN_MILLIS,
    BBF_JFR_TIMESPAN_MICROS,
    BBF_JFR_TIMESPAN_NANOS
};

/* `type` may be NULL: the chunk does not declare it. */
struct bbf_jfr_annotation {
    const struct bbf_jfr_type *type;
    const char **names, **values; /* "value" or "value-0" …; n of each */
    size_t n;
};

struct bbf_jfr_field {
    const char *name;
    const struct bbf_jfr_type *type;
    bool is_pooled, is_array, is_unsigned;
    enum bbf_jfr_time time;
    const struct bbf_jfr_annotation *annotations;
    size_t n_annotations;
};

struct bbf_jfr_setting {
    const char *name, *type_name, *default_value;
};

struct bbf_jfr_type {
    uint64_t id;
    const char *name, *super; /* super: NULL if it has none */
    enum bbf_jfr_kind kind;
    bool is_simple, is_event;
    const struct bbf_jfr_field *fields;
    size_t n_fields;
    const struct bbf_jfr_annotation *annotations;
    size_t n_annotations;
    const struct bbf_jfr_setting *settings;
    size_t n_settings;
    size_t index; /* in bbf_jfr_metadata.types */
};

struct bbf_jfr_metadata {
    uint64_t id;
    struct bbf_jfr_type *types; /* in the order of the event */
    size_t n_types;
    const struct bbf_jfr_type **by_id; /* ascending */
    const struct bbf_jfr_type *
        *direct; /* by id - first_id, n_direct; NULL: the ids are too far apart */
    uint64_t first_id, n_direct;
    int gmt_offset_ms;           /* of the recording's place, with daylight saving time */
    const char *why;             /* why it could not be read; constant text */
    struct bbf_jfr_arena memory; /* of all of it */
};

/* Read the metadata event whose bytes `event` has. BBF_EFORMAT: `why` says what is wrong, and all
 * memory is given back. BBF_ENOMEM. */
int bbf_jfr_metadata_read(struct bbf_jfr_metadata *metadata, struct bbf_jfr_cursor event);
void bbf_jfr_metadata_free(struct bbf_jfr_metadata *metadata);

/* Of a type by that name: STRUCT for all but the primitive ones and String. */
enum bbf_jfr_kind bbf_jfr_kind_of(const char *type_name);
/* What a number with the annotation of that type name and unit means; NONE: not a unit of it. */
enum bbf_jfr_time bbf_jfr_time_of(const char *annotation, const char *unit);

/* NULL: no such type. */
const struct bbf_jfr_type *bbf_jfr_type_of(const struct bbf_jfr_metadata *metadata, uint64_t id);
const struct bbf_jfr_type *bbf_jfr_type_named(const struct bbf_jfr_metadata *metadata,
                                              const char *name);
/* The index of the type's field `name`, -1: none. */
int bbf_jfr_field_index(const struct bbf_jfr_type *type, const char *name);
/* The annotation of that type name, NULL: none; and its attribute "value", NULL: none. */
const struct bbf_jfr_annotation *bbf_jfr_annotation(const struct bbf_jfr_annotation *list, size_t n,
                                                    const char *type_name);
const char *bbf_jfr_annotation_value(const struct bbf_jfr_annotation *list, size_t n,
                                     const char *type_name);

#endif
