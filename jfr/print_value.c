/* SPDX-License-Identifier: Apache-2.0 */
#include "jfr/print_value.h"

#include <stdlib.h>

#include "core/err.h"

#define NS_PER_SECOND INT64_C(1000000000)

static struct bbf_jfr_duration split(int64_t value, int64_t per_second)
{
    int64_t seconds = value / per_second, rest = value % per_second;

    if (rest < 0) {
        rest += per_second;
        seconds--;
    }
    return (struct bbf_jfr_duration){seconds, (int32_t)(rest * (NS_PER_SECOND / per_second))};
}

static struct bbf_jfr_moment span_of(const struct bbf_jfr_chunk *chunk, enum bbf_jfr_time unit,
                                     int64_t value)
{
    struct bbf_jfr_moment m = {.what = BBF_JFR_SPAN};

    if (value == INT64_MIN)
        m.what = BBF_JFR_NO_SPAN;
    else if (value == INT64_MAX)
        m.what = BBF_JFR_FOREVER;
    else if (unit == BBF_JFR_TIMESPAN_SECONDS)
        m.span = split(value, 1);
    else if (unit == BBF_JFR_TIMESPAN_MILLIS)
        m.span = split(value, 1000);
    else if (unit == BBF_JFR_TIMESPAN_MICROS)
        m.span = split(value, 1000000);
    else if (unit == BBF_JFR_TIMESPAN_NANOS)
        m.span = split(value, NS_PER_SECOND);
    else
        m.span = split(bbf_jfr_duration_ns(chunk, value), NS_PER_SECOND);
    return m;
}

static struct bbf_jfr_moment time_of(const struct bbf_jfr_chunk *chunk, enum bbf_jfr_time unit,
                                     int64_t value)
{
    struct bbf_jfr_moment m = {.what = value == INT64_MIN ? BBF_JFR_NO_TIME : BBF_JFR_TIME};

    if (unit == BBF_JFR_TIMESTAMP_SECONDS)
        m.epoch_ns = (int64_t)((uint64_t)value * NS_PER_SECOND);
    else if (unit == BBF_JFR_TIMESTAMP_MILLIS)
        m.epoch_ns = (int64_t)((uint64_t)value * 1000000);
    else if (unit == BBF_JFR_TIMESTAMP_NANOS)
        m.epoch_ns = value;
    else
        m.epoch_ns = bbf_jfr_time_ns(chunk, value);
    return m;
}

struct bbf_jfr_moment bbf_jfr_moment_of(const struct bbf_jfr_chunk *chunk,
                                        const struct bbf_jfr_value *value)
{
    enum bbf_jfr_time unit = value->field != NULL ? value->field->time : BBF_JFR_TIME_NONE;

    if (value->what != BBF_JFR_IS_INTEGER || unit == BBF_JFR_TIME_NONE)
        return (struct bbf_jfr_moment){.what = BBF_JFR_NO_MOMENT};
    if (unit >= BBF_JFR_TIMESPAN_TICKS)
        return span_of(chunk, unit, value->integer);
    return time_of(chunk, unit, value->integer);
}

bool bbf_jfr_take_value(struct bbf_jfr_recording *recording, unsigned *left)
{
    if (*left > 0) {
        --*left;
        return true;
    }
    if (recording->trouble.what == NULL) {
        recording->trouble.what =
            "an event has more values than --max-values; the rest is left out";
        recording->trouble.offset = recording->at;
    }
    return false;
}

int bbf_jfr_each_event(struct bbf_jfr_recording *recording, const struct bbf_jfr_print *how,
                       void (*each)(void *ctx, const struct bbf_jfr_chunk *chunk,
                                    const struct bbf_jfr_event *event),
                       void *ctx)
{
    int err;

    while ((err = bbf_jfr_next_chunk(recording)) == BBF_OK) {
        size_t n;
        struct bbf_jfr_place_in_time *places = bbf_jfr_sorted_events(recording, &how->filter, &n);
        if (places == NULL && n > 0)
            return BBF_ENOMEM;
        for (size_t i = 0; i < n; i++) {
            struct bbf_jfr_event event;
            uint64_t at = places[i].offset;
            if (bbf_jfr_next_event(&recording->chunk, &at, &event))
                each(ctx, &recording->chunk, &event);
        }
        free(places);
    }
    return err == BBF_ENOTFOUND ? BBF_OK : err;
}
