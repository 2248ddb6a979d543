/* link: bbf_agent fake_jvm */
/* agent/report/blackbox.c: a state is made no more often than its share of a core allows, with as
 * many rows as have room; what another wrote at the name is kept. */
#include "agent/cost/meter.h"

static uint64_t meter(void);
#define bbf_meter_clock meter
#include "agent/report/blackbox.c"
#undef bbf_meter_clock

#include <sys/stat.h>

#include "tests/unit/agent/agent_world.h"
#include "trie/node.h"
#include "trie/site.h"

static char base[64], path[96];
static struct bbf_options options;
static uint64_t spent, a_state; /* ns of the thread so far; that each state takes */

static uint64_t meter(void)
{
    spent += a_state; /* the difference of two readings */
    return spent;
}

static int setup(void **state)
{
    world_setup(state);
    world_rules("include=com.app");
    strcpy(base, "/tmp/bbf-black-XXXXXX");
    assert_non_null(mkdtemp(base));
    snprintf(path, sizeof path, "%s/x.box", base);
    bbf_options_init(&options);
    options.blackbox = strdup(path);
    options.box_size = 1 << 20;
    memset(&black, 0, sizeof black);
    a_state = 0;
    alarm(60);
    return 0;
}

static int teardown(void **state)
{
    char command[128];
    char why[100];
    (void)bbf_blackbox_apply(NULL, why, sizeof why);
    bbf_options_free(&options);
    snprintf(command, sizeof command, "rm -rf %s", base);
    alarm(0);
    assert_int_equal(system(command), 0); // NOLINT: a constant and our own folder
    return world_teardown(state);
}

static void apply(void)
{
    char why[800] = "";
    assert_int_equal(bbf_blackbox_apply(&options, why, sizeof why), BBF_OK);
    assert_string_equal(why, "");
}

static void wait_for_disk(void)
{
    while (bbf_box_file_is_busy(black.file))
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

/* The newest document; NULL: none. */
static struct bbf_snapshot *read_state(struct bbf_box *box)
{
    static char bytes[4 << 20];
    struct bbf_snapshot *s = NULL;
    char why[200] = "";
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    size_t n = fread(bytes, 1, sizeof bytes, file);
    (void)fclose(file);
    assert_int_equal(bbf_box_read(box, bytes, n, why, sizeof why), BBF_OK);
    if (box->document == NULL)
        return NULL;
    assert_int_equal(bbf_snapshot_from_json(&s, box->document, box->slot.len, why, sizeof why),
                     BBF_OK);
    return s;
}

static void one_state_a_second_and_the_last_at_the_end(void **state)
{
    struct bbf_box box;
    (void)state;
    apply();
    for (int i = 0; i < 3; i++) {
        bbf_blackbox_poll(fake_env(), &options);
        wait_for_disk();
    }
    bbf_snapshot_free(read_state(&box));
    assert_int_equal(box.slot.number, 1);
    assert_int_equal(box.head.pid, getpid());
    assert_in_range(box.head.started_ms, 1, box.head.begun_ms);
    bbf_blackbox_hurry();
    bbf_blackbox_poll(fake_env(), &options);
    wait_for_disk();
    assert_int_equal(black.refused, 0);
    bbf_snapshot_free(read_state(&box));
    assert_int_equal(box.slot.number, 2);
    bbf_blackbox_end(fake_env(), 5000);
    bbf_snapshot_free(read_state(&box));
    assert_int_equal(box.slot.number, 3);
    assert_int_equal(box.beat.state, BBF_BOX_ENDED);
    bbf_blackbox_poll(fake_env(), &options); /* nothing is there any more */
}

static void a_costly_state_is_made_less_often(void **state)
{
    (void)state;
    apply();
    a_state = 500 * MS;
    uint64_t before = monotonic();
    bbf_blackbox_poll(fake_env(), &options);
    assert_true(black.due_ns >= before + SHARE * a_state);
    wait_for_disk();
    black.due_ns = 0;
    a_state = MS;
    bbf_blackbox_poll(fake_env(), &options);
    assert_true(black.due_ns < monotonic() + BBF_CLOCK_SECOND);
    wait_for_disk();
}

/* A tree of 5,000 nodes, room for some. */
static void rows_are_as_many_as_have_room(void **state)
{
    char name[32];
    struct bbf_box box;
    struct bbf_tracker *t = bbf_agent.tracker;
    struct bbf_site like = {.class_name = (char *)"test/Sample",
                            .method = (char *)"directBuffer",
                            .descriptor = (char *)"",
                            .kind = BBF_SITE_ROOT,
                            .memory = BBF_MEM_DIRECT};
    uint32_t root = bbf_node_root(t, bbf_site_intern(t, &like));
    (void)state;
    like.kind = BBF_SITE_ENTER;
    like.method = name;
    for (int i = 0; i < 5000; i++) {
        snprintf(name, sizeof name, "step%d", i % 900);
        uint32_t from = bbf_node_child(t, root, bbf_site_intern(t, &like));
        snprintf(name, sizeof name, "far%d", i / 900);
        bbf_node_released(t, bbf_node_child(t, from, bbf_site_intern(t, &like)), 1, 1);
    }
    apply();
    black.rows = 100000; /* more than have room */
    black.room = 64 << 10;
    struct bbf_snapshot *s = NULL;
    for (int i = 0; i < 20 && s == NULL; i++) {
        const uint64_t refused = black.refused;
        black.due_ns = 0;
        bbf_blackbox_poll(fake_env(), &options);
        wait_for_disk();
        if (black.refused == refused) /* before the first one the file may have no head yet */
            s = read_state(&box);
    }
    assert_non_null(s);
    assert_true(box.slot.len <= 64 << 10);
    assert_true(s->n_nodes > 10 && s->n_nodes <= black.rows + 1);
    assert_int_equal(s->totals.released_, 5000); /* in the rows of their callers */
    assert_true(black.refused > 0);
    bool noted = false;
    for (size_t i = 0; i < s->n_notes; i++)
        noted = noted || strstr(s->notes[i], "the black box has no room for the rows of") != NULL;
    assert_true(noted);
    bbf_snapshot_free(s);
}

static void the_file_before_gets_another_name(void **state)
{
    static const char *const rows[][2] = {{"/a/x.box", "/a/x.1.box"},
                                          {"x", "x.1"},
                                          {"/a.b/x", "/a.b/x.1"},
                                          {"/a/.box", "/a/.box.1"},
                                          {"x.y.box", "x.y.1.box"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bbf_buf name = BBF_BUF_INIT;
        name_previous(&name, rows[i][0]);
        assert_string_equal(bbf_buf_cstr(&name), rows[i][1]);
        bbf_buf_free(&name);
    }
}

/* An error is in the reports, and is tried again after ten seconds. */
static void a_place_that_cannot_be_written_is_tried_again(void **state)
{
    char why[800] = "";
    struct bbf_buf note = BBF_BUF_INIT;
    (void)state;
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(bbf_blackbox_apply(&options, why, sizeof why), BBF_EPERMISSION);
    assert_non_null(strstr(why, "a FIFO is there"));
    bbf_blackbox_poll(fake_env(), &options);
    bbf_blackbox_note(&note);
    assert_non_null(strstr(bbf_buf_cstr(&note), "blackbox: nothing is written: /tmp/bbf-black-"));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(bbf_blackbox_apply(&options, why, sizeof why), BBF_EIO); /* not yet */
    black.retry_ns = 1;
    assert_int_equal(bbf_blackbox_apply(&options, why, sizeof why), BBF_OK);
    bbf_blackbox_poll(fake_env(), &options);
    note.len = 0;
    bbf_blackbox_note(&note);
    assert_int_equal(note.len, 0);
    wait_for_disk();
    bbf_buf_free(&note);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_state_a_second_and_the_last_at_the_end, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_costly_state_is_made_less_often, setup, teardown),
        cmocka_unit_test_setup_teardown(rows_are_as_many_as_have_room, setup, teardown),
        cmocka_unit_test(the_file_before_gets_another_name),
        cmocka_unit_test_setup_teardown(a_place_that_cannot_be_written_is_tried_again, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
