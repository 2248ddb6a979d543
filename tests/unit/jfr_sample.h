/* A recording in memory that uses every encoding, for the tests of the reader and of the repair. */
#ifndef JFR_SAMPLE_H
#define JFR_SAMPLE_H

#include "core/err.h"
#include "jfr/writer.h"

static const struct bbf_jfr_type_decl sample_types[] = {
    {.name = "test.All",
     .super = "jdk.jfr.Event",
     .notes = {{"Label", "All kinds"}, {"Category", "bbflow|Tests"}},
     .fields = {{"startTime", "long", 0, {{"Label", "Start"}, {"Timestamp", "TICKS"}}},
                {"duration", "long", 0, {{"Timespan", "TICKS"}}},
                {"eventThread", "java.lang.Thread", BBF_JFR_IS_POOLED, {{0}}},
                {"stackTrace", "jdk.types.StackTrace", BBF_JFR_IS_POOLED, {{0}}},
                {"flag", "boolean", 0, {{0}}},
                {"letter", "char", 0, {{0}}},
                {"number", "int", 0, {{0}}},
                {"unsigned", "int", 0, {{"Unsigned", NULL}}},
                {"bytes", "long", 0, {{"DataAmount", "BYTES"}}},
                {"share", "float", 0, {{"Percentage", NULL}}},
                {"rate", "double", 0, {{0}}},
                {"text", "java.lang.String", 0, {{0}}},
                {"address", "long", 0, {{"MemoryAddress", NULL}}}}},
};

static int sample_append(void *ctx, const char *data, size_t len)
{
    bbf_buf_add(ctx, data, len);
    return BBF_OK;
}

static void sample_event(struct bbf_jfr_writer *w, uint64_t ticks, int i)
{
    static const char *const texts[] = {
        NULL, "", "short", "a text that is long enough for the pool", "\xC5\xBE \xF0\x9F\x98\x80"};
    static const struct bbf_jfr_frame path[] = {
        {"com.app.Handler", "reject", "(Lio/netty/buffer/ByteBuf;[IJ)V", 11, 4},
        {"io.netty.buffer.PooledByteBufAllocator", "directBuffer", "", -1, 0}};
    struct bbf_buf *out = bbf_jfr_begin(w, 0, ticks);

    bbf_jfr_put_long(out, 2500000);
    bbf_jfr_put_long(out, bbf_jfr_thread(w, "worker-1", 4001, 31, i == 3));
    bbf_jfr_put_long(out, bbf_jfr_stack(w, path, 2, false));
    bbf_jfr_put_byte(out, i % 2);
    bbf_jfr_put_char(out, 0x6F22);
    bbf_jfr_put_int(out, -3 - i);
    bbf_jfr_put_int(out, -1);
    bbf_jfr_put_long(out, 1280);
    bbf_jfr_put_float(out, 0.125f);
    bbf_jfr_put_double(out, 1e10);
    bbf_jfr_text(w, texts[i % 5]);
    bbf_jfr_put_long(out, 0xABCDEF);
    bbf_jfr_end(w);
}

/* `chunks` chunks of `events` events each. The caller frees `to`. */
static void sample_write(struct bbf_buf *to, int chunks, int events)
{
    struct bbf_jfr_config config = {
        .schema = {sample_types, 1},
        .output = {sample_append, NULL, to},
        .start_ns = UINT64_C(1700000000000000000),
        .start_ticks = 1000,
    };
    struct bbf_jfr_writer w;
    uint64_t ticks = 2000;

    assert_int_equal(bbf_jfr_writer_init(&w, &config), BBF_OK);
    for (int c = 0; c < chunks; c++) {
        for (int i = 0; i < events; i++)
            sample_event(&w, ticks += 1000000, i);
        assert_int_equal(c + 1 < chunks ? bbf_jfr_finish_chunk(&w, ticks, false)
                                        : bbf_jfr_finish(&w, ticks),
                         BBF_OK);
    }
    bbf_jfr_writer_free(&w);
}

#endif
