/* link: bbf_agent fake_jvm */
/* agent/stream.c: the JVM ends, which stops the server, while the agent thread and the server's
 * thread still look at it: after a stop, and for `status`. */
#include "agent/stream.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/attach.h"
#include "agent/commands/endpoint.h"
#include "agent/report/status.h"
#include "tests/unit/agent/agent_world.h"
#include "wire/server/server.h"

enum { ROUNDS = 20 };

static char folder[] = "/tmp/bbf-stream-XXXXXX";
static atomic_bool begun, stop;

static void no_event(void *ctx, const char *name, struct bbf_reply *reply)
{
    (void)ctx;
    (void)name;
    (void)reply;
}

static void open_server(void)
{
    char why[600] = "";
    const struct bbf_server_config config = {.socket_dir = folder,
                                             .pid = getpid(),
                                             .max_clients = 2,
                                             .queue = 10,
                                             .probe_id = "id",
                                             .event = no_event};
    struct bbf_server *server = NULL;
    if (bbf_server_start(&server, &config, why, sizeof why) != BBF_OK)
        fail_msg("%s", why);
    bbf_stream_open(server);
}

/* As the agent thread after a stop. */
static void *finish_a_detach(void *arg)
{
    while (!atomic_load(&stop)) {
        (void)bbf_attach_tick_ms();
        (void)bbf_finish_detach(fake_env());
        atomic_store(&begun, true);
    }
    return arg;
}

/* As the server's thread, whose server is not freed under it. */
static void *report_status(void *arg)
{
    struct bbf_snapshot *s = bbf_snapshot_new();
    s->jvm.main = strdup("com.app.Main");
    s->jvm.version = strdup("25");
    while (!atomic_load(&stop)) {
        struct bbf_buf out = BBF_BUF_INIT;
        bbf_report_status(&out, s);
        bbf_buf_free(&out);
        atomic_store(&begun, true);
    }
    bbf_snapshot_free(s);
    return arg;
}

static void run_meanwhile(pthread_t *thread, void *(*work)(void *))
{
    atomic_store(&begun, false);
    atomic_store(&stop, false);
    assert_int_equal(pthread_create(thread, NULL, work, NULL), 0);
}

static void join(pthread_t thread)
{
    while (!atomic_load(&begun))
        sched_yield();
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
}

static void a_server_that_vmdeath_stops_is_not_used_by_the_agent_thread(void **state)
{
    pthread_t thread;
    (void)state;
    atomic_store(&bbf_agent.phase, BBF_PHASE_OUT);
    for (int i = 0; i < ROUNDS; i++) {
        open_server();
        run_meanwhile(&thread, finish_a_detach);
        bbf_endpoint_stop(NULL, 5000);
        join(thread);
        assert_null(bbf_stream_server());
    }
}

static void a_status_is_made_of_the_server_that_was_open_or_of_none(void **state)
{
    pthread_t thread;
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        open_server();
        run_meanwhile(&thread, report_status);
        while (!atomic_load(&begun))
            sched_yield();
        struct bbf_server *server = bbf_stream_close();
        assert_non_null(server);
        join(thread);
        bbf_server_stop(server, 5000);
    }
}

static void without_a_server_nothing_happens(void **state)
{
    (void)state;
    assert_true(bbf_stream_publish("a\n", 2));
    assert_int_equal(bbf_stream_published(), 0);
    assert_int_equal(bbf_stream_clients(), 0);
    assert_int_equal(bbf_stream_cpu_ns(), 0);
    assert_false(bbf_stream_is_watched());
    assert_null(bbf_stream_server());
    assert_null(bbf_stream_close());
    bbf_stream_unpublish();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(without_a_server_nothing_happens),
        WORLD_TEST(a_server_that_vmdeath_stops_is_not_used_by_the_agent_thread),
        WORLD_TEST(a_status_is_made_of_the_server_that_was_open_or_of_none),
    };
    if (mkdtemp(folder) == NULL)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    (void)rmdir(folder);
    return failed;
}
