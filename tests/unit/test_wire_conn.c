/* link: bbf_wire bbf_core */
/*
 * The client's end: against the real server, and against peers that are something else, silent,
 * gone or wrong. Also the Python client of docs/protocol.md, unchanged.
 */
#include "tests/unit/wire_peer.h"

#include <pthread.h>
#include <sys/wait.h>

#include "wire/client/conn.h"

static char why[512];
enum {
    PATIENT_MS = 60000
}; /* of a server that answers, by a sanitizer's build, on a busy machine */

/* To the Unix socket `path`, v2. */
static int open_unix(struct bbf_conn **out, const char *path, unsigned timeout_ms)
{
    const struct bbf_conn_config config = {
        .path = path, .protocol = BBF_PROTOCOL_2, .timeout_ms = timeout_ms};

    return bbf_conn_open(out, &config, why, sizeof why);
}

static struct bbf_conn *open_conn(const struct bbf_server *server)
{
    struct bbf_conn *conn;
    int err = open_unix(&conn, bbf_server_path(server), PATIENT_MS);

    if (err != BBF_OK)
        fail_msg("open: %d %s", err, why);
    return conn;
}

static int ask(const struct bbf_server *server, const char *event, struct bbf_buf *document)
{
    struct bbf_conn *conn = open_conn(server);
    int err = bbf_conn_event(conn, event, document, why, sizeof why);

    bbf_conn_close(conn);
    return err;
}

static void a_question_and_its_document(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){0});
    struct bbf_buf document = BBF_BUF_INIT;

    (void)state;
    assert_int_equal(ask(server, "hello", &document), BBF_OK);
    assert_string_equal(bbf_buf_cstr(&document), "hello\n");
    bbf_buf_free(&document);
    assert_int_equal(ask(server, "text 12345", &document), BBF_OK);
    assert_int_equal(document.len, 12345);
    bbf_buf_free(&document);
    assert_int_equal(ask(server, "doc 30000000", &document), BBF_OK);
    assert_int_equal(document.len, 30000000);
    for (size_t i = 0; i < document.len; i += 997)
        assert_int_equal(document.data[i], i % 61 == 60 ? '\n' : (char)('a' + i % 26));
    bbf_buf_free(&document);
    assert_int_equal(ask(server, "doc 0", &document), BBF_OK);
    assert_int_equal(document.len, 0);
    bbf_server_stop(server, 1000);
}

struct sizes {
    size_t messages, deflated, bytes;
};

static void note_size(void *ctx, const struct bbf_command *command)
{
    struct sizes *sizes = ctx;

    if (command->type != BBF_CMD_MESSAGE)
        return;
    sizes->messages++;
    sizes->deflated += command->deflated;
    sizes->bytes += command->text[0].len;
}

static struct sizes sizes_of(const struct bbf_server *server, const char *event, uint32_t compress)
{
    struct bbf_conn_config config = {.path = bbf_server_path(server),
                                     .protocol = BBF_PROTOCOL_2,
                                     .timeout_ms = PATIENT_MS,
                                     .compress = compress};
    struct sizes sizes = {0, 0, 0};
    struct bbf_conn *conn;

    assert_int_equal(bbf_conn_open(&conn, &config, why, sizeof why), BBF_OK);
    assert_int_equal(bbf_conn_ask(conn, NULL, event, &sizes, note_size, why, sizeof why), BBF_OK);
    bbf_conn_close(conn);
    return sizes;
}

static void long_messages_are_deflated_for_who_asks(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){0});

    (void)state;
    struct sizes sizes = sizes_of(server, "doc 3000000", 0);
    assert_int_equal(sizes.deflated, 0);
    sizes = sizes_of(server, "doc 3000000", 4096);
    assert_int_equal(sizes.messages, 3);
    assert_int_equal(sizes.deflated, 3);
    assert_int_equal(sizes.bytes, 3000000);
    sizes = sizes_of(server, "doc 4096", 4096);
    assert_int_equal(sizes.messages, 1);
    assert_int_equal(sizes.deflated, 0);
    bbf_server_stop(server, 1000);
}

static void a_refusal_says_why(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){0});
    struct bbf_buf document = BBF_BUF_INIT;

    (void)state;
    assert_int_equal(ask(server, "fail", &document), BBF_EREFUSED);
    assert_string_equal(why, "it did not work");
    assert_int_equal(document.len, 0);
    /* Without an ERROR, its text does. */
    assert_int_equal(ask(server, "what?", &document), BBF_EREFUSED);
    assert_string_equal(why, "known: hello, text, doc, slow, fail\n");
    bbf_buf_free(&document);
    bbf_server_stop(server, 1000);
}

static void one_conversation_a_connection(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){0});
    struct bbf_conn *conn = open_conn(server);
    struct bbf_buf document = BBF_BUF_INIT;

    (void)state;
    assert_int_equal(bbf_conn_event(conn, "hello", &document, why, sizeof why), BBF_OK);
    assert_int_equal(bbf_conn_event(conn, "hello", &document, why, sizeof why), BBF_ECLOSED);
    assert_string_equal(why, "this connection has had its conversation");
    assert_int_equal(bbf_conn_set(conn, NULL, 0, &document, why, sizeof why), BBF_ECLOSED);
    assert_string_equal(bbf_buf_cstr(&document), "hello\n");
    bbf_buf_free(&document);
    bbf_conn_close(conn);
    bbf_conn_close(NULL);
    bbf_server_stop(server, 1000);
}

static struct bbf_entry param(const char *key, const char *value)
{
    struct bbf_entry entry = {.value = {.kind = BBF_VALUE_STRING}};

    entry.key = (struct bbf_wire_str){(char *)(uintptr_t)key, strlen(key)};
    entry.value.text = (struct bbf_wire_str){(char *)(uintptr_t)value, strlen(value)};
    return entry;
}

static void options_are_set_and_answered(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){0});
    struct bbf_conn *conn = open_conn(server);
    struct bbf_buf answer = BBF_BUF_INIT;
    struct bbf_entry params[2] = {param("age", "5m"), param("include", "com.app+org.x")};

    (void)state;
    assert_int_equal(bbf_conn_set(conn, params, 2, &answer, why, sizeof why), BBF_OK);
    assert_string_equal(bbf_buf_cstr(&answer), "age=5m\ninclude=com.app+org.x\n");
    bbf_buf_free(&answer);
    params[1] = param("bad", "1");
    assert_int_equal(bbf_conn_set(conn, params, 2, &answer, why, sizeof why), BBF_EREFUSED);
    assert_string_equal(bbf_buf_cstr(&answer), "bad: no such option");
    assert_string_equal(why, "bad: no such option");
    bbf_buf_free(&answer);
    /* The connection is still good for a question. */
    assert_int_equal(bbf_conn_event(conn, "hello", &answer, why, sizeof why), BBF_OK);
    assert_string_equal(bbf_buf_cstr(&answer), "hello\n");
    bbf_buf_free(&answer);
    bbf_conn_close(conn);
    bbf_server_stop(server, 1000);
}

static void a_slow_agent_times_out(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){0});
    struct bbf_buf document = BBF_BUF_INIT;
    struct bbf_conn *conn;

    (void)state;
    assert_int_equal(open_unix(&conn, bbf_server_path(server), 200), BBF_OK);
    int64_t before = peer_now_ms();
    assert_int_equal(bbf_conn_event(conn, "slow 600", &document, why, sizeof why), BBF_ETIMEOUT);
    assert_in_range(peer_now_ms() - before, 190, 590);
    assert_string_equal(why, "the agent did not answer within 200 ms");
    bbf_conn_close(conn);
    bbf_server_stop(server, 2000);
}

static void many_clients_at_once(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){.max_clients = 32});
    struct bbf_conn *conns[32];

    (void)state;
    for (int i = 0; i < 32; i++)
        conns[i] = open_conn(server);
    struct bbf_conn *extra;
    assert_int_equal(open_unix(&extra, bbf_server_path(server), 2000), BBF_EREFUSED);
    assert_non_null(strstr(why, "too many clients"));
    assert_null(extra);
    for (int i = 0; i < 32; i++) {
        struct bbf_buf document = BBF_BUF_INIT;
        assert_int_equal(bbf_conn_event(conns[i], "text 5000", &document, why, sizeof why), BBF_OK);
        assert_int_equal(document.len, 5000);
        bbf_buf_free(&document);
        bbf_conn_close(conns[i]);
    }
    bbf_server_stop(server, 1000);
}

/* A peer that answers any connection with fixed bytes, then waits for us to go, or goes itself. */
struct stub {
    const char *bytes;
    size_t len;
    bool closes;
    int listen_fd;
    pthread_t thread;
    char path[108];
};

static void *stub_main(void *arg)
{
    struct stub *stub = arg;
    char waste[4096];
    int fd = accept(stub->listen_fd, NULL, NULL);

    if (fd < 0)
        return NULL;
    if (recv(fd, waste, 4, MSG_WAITALL) == 4 && stub->len > 0)
        send(fd, stub->bytes, stub->len, MSG_NOSIGNAL);
    if (stub->closes)
        shutdown(fd, SHUT_WR);
    while (recv(fd, waste, sizeof waste, 0) > 0)
        continue;
    close(fd);
    return NULL;
}

static void stub_start(struct stub *stub)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    snprintf(stub->path, sizeof stub->path, "%s/stub.sock", peer_base);
    unlink(stub->path);
    strcpy(address.sun_path, stub->path);
    stub->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(stub->listen_fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(stub->listen_fd, 4), 0);
    assert_int_equal(pthread_create(&stub->thread, NULL, stub_main, stub), 0);
}

static void stub_stop(struct stub *stub)
{
    shutdown(stub->listen_fd, SHUT_RDWR);
    assert_int_equal(pthread_join(stub->thread, NULL), 0);
    close(stub->listen_fd);
    unlink(stub->path);
}

/* What a question ends in when the peer says these bytes. */
static void against(const char *bytes, size_t len, bool closes, int expected, const char *text)
{
    struct stub stub = {.bytes = bytes, .len = len, .closes = closes};
    struct bbf_buf document = BBF_BUF_INIT;
    struct bbf_conn *conn;

    stub_start(&stub);
    int err = open_unix(&conn, stub.path, 300);
    if (err == BBF_OK) {
        err = bbf_conn_event(conn, "hello", &document, why, sizeof why);
        bbf_conn_close(conn);
    }
    stub_stop(&stub);
    if (err != expected || strstr(why, text) == NULL)
        fail_msg("%d %s, not %d %s", err, why, expected, text);
    bbf_buf_free(&document);
}
#define AGAINST(bytes, closes, err, text) against(bytes, sizeof bytes - 1, closes, err, text)

#define LISTED                                                                                     \
    "BTR2\x03\x0E\0\0\0\x01\0\0\0\x0C"                                                             \
    "abc [bbflow]"

static void other_peers_are_told_apart(void **state)
{
    (void)state;
    AGAINST("", false, BBF_ETIMEOUT, "within 300 ms");
    AGAINST("", true, BBF_EREFUSED, "at once");
    AGAINST("BT", true, BBF_EREFUSED, "at once");
    AGAINST("HTTP/1.1 400 Bad Request\r\n", true, BBF_EVERSION, "no BTrace v2");
    AGAINST("\xAC\xED\x00\x05", false, BBF_EVERSION, "v1 only");
    AGAINST("BTR2", true, BBF_ECLOSED, "closed the connection");
    AGAINST("BTR2", false, BBF_ETIMEOUT, "within 300 ms");
    AGAINST("BTR2\x02", false, BBF_EVERSION, "frame version");
    AGAINST("BTR2\x03\x12", false, BBF_EFORMAT, "unknown command type");
    AGAINST("BTR2\x03\x0E\0\0\0\x01\0\0", true, BBF_ECLOSED, "in the middle of an answer");
    /* A stock BTrace agent: no probes, or others'. */
    AGAINST("BTR2\x03\x0E\0\0\0\0", false, BBF_ENOTFOUND, "no bbflow probe");
    AGAINST("BTR2\x03\x0E\0\0\0\x02\xFF\xFF\xFF\xFF\0\0\0\x0D"
            "abc [a.Probe]",
            false, BBF_ENOTFOUND, "no bbflow probe");
    AGAINST(LISTED "\x03\x06\0\0\0\x08\0", false, BBF_EREFUSED, "refused to reconnect to abc");
    AGAINST(LISTED "\x03\x06\0\0\0\x08\x01", true, BBF_ECLOSED, "closed the connection");
    AGAINST(LISTED "\x03\x06\0\0\0\x08\x01\x03\0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\0\0\0\x04"
                   "oops"
                   "\x03\x0F\0\0\0\x03"
                   "abc",
            false, BBF_EREFUSED, "oops");
}

/* Commands that we did not ask for are passed over; a stock agent deflates long texts. */
static void strange_but_legal_answers_are_understood(void **state)
{
    struct bbf_buf s2c = BBF_BUF_INIT, document = BBF_BUF_INIT;
    struct bbf_command message = {.type = BBF_CMD_MESSAGE, .flag = true};
    char text[5000];
    struct stub stub = {0};
    struct bbf_conn *conn;

    (void)state;
    memset(text, 'x', sizeof text);
    message.text[0] = (struct bbf_wire_str){text, sizeof text};
    bbf_buf_add(&s2c, "BTR2\x03\x05\xFF\xFF\xFF\xFF", 10);
    bbf_buf_add(&s2c, &LISTED[4], sizeof LISTED - 5);
    bbf_buf_add(&s2c, "\x03\x0B\0\0\0\x01\x03\x06\0\0\0\x08\x01", 13);
    assert_int_equal(bbf_command_encode(&s2c, &message, BBF_DEFLATE_OVER), BBF_OK);
    message.timestamp_ms = 5; /* of the live stream: no part of the document */
    assert_int_equal(bbf_command_encode(&s2c, &message, BBF_DEFLATE_OVER), BBF_OK);
    bbf_buf_add(&s2c,
                "\x03\x0F\0\0\0\x03"
                "abc",
                9);
    stub.bytes = s2c.data;
    stub.len = s2c.len;
    stub_start(&stub);
    assert_int_equal(open_unix(&conn, stub.path, 2000), BBF_OK);
    assert_int_equal(bbf_conn_event(conn, "hello", &document, why, sizeof why), BBF_OK);
    assert_int_equal(document.len, sizeof text);
    assert_memory_equal(document.data, text, sizeof text);
    bbf_conn_close(conn);
    stub_stop(&stub);
    bbf_buf_free(&document);
    bbf_buf_free(&s2c);
}

/* A wait that a signal may end leaves the connection, and half a frame on it, as they are. */
static void a_wait_can_be_ended(void **state)
{
    struct bbf_command command;
    struct bbf_conn *conn;
    int stop[2], feed[2];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char path[108];

    (void)state;
    assert_int_equal(pipe(stop), 0);
    snprintf(path, sizeof path, "%s/wait.sock", peer_base);
    strcpy(address.sun_path, path);
    feed[0] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(feed[0], (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(feed[0], 1), 0);
    struct stub stub = {.bytes = "BTR2\x03\x06\0\0", .len = 8, .listen_fd = feed[0]};
    assert_int_equal(pthread_create(&stub.thread, NULL, stub_main, &stub), 0);
    assert_int_equal(open_unix(&conn, path, 2000), BBF_OK);
    assert_int_equal(write(stop[1], "x", 1), 1);
    assert_int_equal(bbf_conn_receive_until(conn, stop[0], &command, why, sizeof why), BBF_EMORE);
    bbf_conn_set_timeout(conn, 50);
    assert_int_equal(bbf_conn_receive(conn, &command, why, sizeof why), BBF_ETIMEOUT);
    bbf_conn_close(conn);
    assert_int_equal(pthread_join(stub.thread, NULL), 0);
    close(feed[0]);
    close(stop[0]);
    close(stop[1]);
    unlink(path);
}

static void where_nobody_answers(void **state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct bbf_conn *conn;
    char path[108], longer[300];

    (void)state;
    snprintf(path, sizeof path, "%s/none.sock", peer_base);
    assert_int_equal(open_unix(&conn, path, 100), BBF_ENOTFOUND);
    assert_non_null(strstr(why, "no such socket"));
    assert_null(conn);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    strcpy(address.sun_path, path);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    close(fd);
    assert_int_equal(open_unix(&conn, path, 100), BBF_ENOTFOUND);
    assert_non_null(strstr(why, "no answer"));
    unlink(path);
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    assert_int_equal(open_unix(&conn, longer, 100), BBF_EIO);
}

/* A full backlog: connect would block, and we wait no longer than the time-out. */
static void a_peer_that_accepts_nobody_times_out(void **state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct bbf_conn *conn;
    char path[108];
    int waiting[2], err;

    (void)state;
    snprintf(path, sizeof path, "%s/full.sock", peer_base);
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fd, 1), 0);
    for (int i = 0; i < 2; i++)
        waiting[i] = raw_connect(path);
    err = open_unix(&conn, path, 150);
    assert_int_equal(err, BBF_ETIMEOUT);
    assert_non_null(strstr(why, "not accepted within 150 ms"));
    for (int i = 0; i < 2; i++)
        close(waiting[i]);
    close(fd);
    unlink(path);
}

struct finding {
    const char *expected; /* path */
    int times;
    pid_t pid;
    uid_t uid;
};

static void note_finding(void *ctx, pid_t pid, uid_t uid, const char *path)
{
    struct finding *finding = ctx;

    if (strcmp(path, finding->expected) == 0) {
        finding->times++;
        finding->pid = pid;
        finding->uid = uid;
    }
}

static void running_agents_are_found_and_dead_ones_cleared_away(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){0});
    struct finding finding = {.expected = bbf_server_path(server)};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char dir[90], stale[sizeof address.sun_path], other[120];

    (void)state;
    setenv("XDG_RUNTIME_DIR", peer_base, 1);
    snprintf(dir, sizeof dir, "%s/bbflow-%u", peer_base, (unsigned)geteuid());
    snprintf(stale, sizeof stale, "%s/99999999.sock", dir);
    snprintf(other, sizeof other, "%s/notes.txt", dir);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    memcpy(address.sun_path, stale, sizeof stale);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    close(fd);
    FILE *file = fopen(other, "w");
    assert_non_null(file);
    fclose(file);
    bbf_conn_discover(&finding, note_finding);
    assert_int_equal(finding.times, 1);
    /* Its name says 1000-something; the kernel knows better. */
    assert_int_equal(finding.pid, getpid());
    assert_int_equal(finding.uid, geteuid());
    assert_int_equal(access(stale, F_OK), -1);
    assert_int_equal(access(other, F_OK), 0);
    /* A folder that others may enter is not looked into. */
    assert_int_equal(chmod(dir, 0755), 0);
    finding.times = 0;
    bbf_conn_discover(&finding, note_finding);
    assert_int_equal(finding.times, 0);
    assert_int_equal(chmod(dir, 0700), 0);
    unlink(other);
    unsetenv("XDG_RUNTIME_DIR");
    bbf_server_stop(server, 1000);
}

/* The text between ```python and ``` of docs/protocol.md. */
static void write_document_client(const char *path)
{
    FILE *from = fopen(BBF_SOURCE_DIR "/docs/protocol.md", "r"), *to = fopen(path, "w");
    char line[256];
    bool inside = false;
    int lines = 0;

    assert_non_null(from);
    assert_non_null(to);
    while (fgets(line, sizeof line, from) != NULL) {
        if (strncmp(line, "```", 3) == 0)
            inside = strcmp(line, "```python\n") == 0;
        else if (inside)
            lines += fputs(line, to) >= 0;
    }
    fclose(from);
    assert_int_equal(fclose(to), 0);
    assert_in_range(lines, 30, 60);
}

static void the_python_client_of_the_documents_works(void **state)
{
    struct bbf_server *server = start((struct bbf_server_config){0});
    char script[108], command[512], got[20000];

    (void)state;
    if (system("python3 -c '' 2>/dev/null") != 0) {
        bbf_server_stop(server, 1000);
        skip();
    }
    snprintf(script, sizeof script, "%s/client.py", peer_base);
    write_document_client(script);
    snprintf(command, sizeof command, "python3 '%s' '%s' 'text 12345'", script,
             bbf_server_path(server));
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t n = fread(got, 1, sizeof got, pipe);
    assert_int_equal(pclose(pipe), 0);
    assert_int_equal(n, 12345);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(got[i], i % 61 == 60 ? '\n' : (char)('a' + i % 26));
    snprintf(command, sizeof command, "python3 '%s' '%s' fail 2>&1", script,
             bbf_server_path(server));
    pipe = popen(command, "r");
    assert_non_null(pipe);
    n = fread(got, 1, sizeof got - 1, pipe);
    got[n] = '\0';
    assert_int_equal(WEXITSTATUS(pclose(pipe)), 1);
    assert_string_equal(got, "it did not work\n");
    bbf_server_stop(server, 1000);
}

/* Over TCP, with the token of a file; and what it ends with when that is another. */
static void it_works_over_tcp_with_a_token(void **state)
{
    static struct bbf_token token = {.bytes = "s3cr3t", .len = 6};
    struct bbf_server *server = start((struct bbf_server_config){.tcp = true, .token = &token});
    char script[108], command[512], got[64] = "";

    (void)state;
    if (system("python3 -c '' 2>/dev/null") != 0) {
        bbf_server_stop(server, 1000);
        skip();
    }
    snprintf(script, sizeof script, "%s/tcp.py", peer_base);
    write_document_client(script);
    for (int wrong = 0; wrong < 2; wrong++) {
        snprintf(command, sizeof command,
                 "echo %s >'%s/t'; python3 '%s' 127.0.0.1:%u hello '%s/t' 2>&1 | tail -1",
                 wrong ? "other" : "s3cr3t", peer_base, script, (unsigned)bbf_server_port(server),
                 peer_base);
        FILE *pipe = popen(command, "r");
        assert_non_null(pipe);
        got[fread(got, 1, sizeof got - 1, pipe)] = '\0';
        pclose(pipe);
        assert_string_equal(got, wrong ? "AssertionError: another token\n" : "hello\n");
    }
    bbf_server_stop(server, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_question_and_its_document),
        cmocka_unit_test(long_messages_are_deflated_for_who_asks),
        cmocka_unit_test(a_refusal_says_why),
        cmocka_unit_test(one_conversation_a_connection),
        cmocka_unit_test(options_are_set_and_answered),
        cmocka_unit_test(a_slow_agent_times_out),
        cmocka_unit_test(many_clients_at_once),
        cmocka_unit_test(other_peers_are_told_apart),
        cmocka_unit_test(strange_but_legal_answers_are_understood),
        cmocka_unit_test(a_wait_can_be_ended),
        cmocka_unit_test(where_nobody_answers),
        cmocka_unit_test(a_peer_that_accepts_nobody_times_out),
        cmocka_unit_test(running_agents_are_found_and_dead_ones_cleared_away),
        cmocka_unit_test(the_python_client_of_the_documents_works),
        cmocka_unit_test(it_works_over_tcp_with_a_token),
    };
    return cmocka_run_group_tests(tests, make_base, remove_base);
}
