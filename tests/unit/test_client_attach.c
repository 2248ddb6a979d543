/* link: bbf_client */
/*
 * tests/unit/test_client_attach.c - what the attach client reads: /proc status, HotSpot's
 * performance data, flags, the answer to `load`. The conversation: tests/jvm/attach.py.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "client/attach.h"
#include "client/attach_facts.h"
#include "client/client.h"

#define TAIL "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\nSigCgt:\t%s\n"

static void reads_status(void **state)
{
    (void)state;
    struct bbf_attach_status s;
    char text[600];
    snprintf(text, sizeof text,
             "Name:\tjava\nPid:\t4711\nPPid:\t1\nUid:\t0\t1000\t0\t0\nGid:\t0\t100\t0\t0\n"
             "NSpid:\t4711\t77\t5\n" TAIL,
             "2000000181005ccf");
    assert_true(bbf_attach_read_status(text, &s));
    assert_int_equal(s.inner, 5);
    assert_int_equal(s.uid, 1000);
    assert_int_equal(s.gid, 100);
    assert_true(s.catches_quit);
    snprintf(text, sizeof text, "Pid:\t4711\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\n" TAIL,
             "2000000181005cfb");
    assert_true(bbf_attach_read_status(text, &s));
    assert_int_equal(s.inner, 4711); /* a kernel before 4.1 */
    assert_false(s.catches_quit);
    assert_false(bbf_attach_read_status("Pid:\t1\nUid:\t1\t2\t3\t4\nGid:\t5\n", &s));
    assert_false(bbf_attach_read_status("", &s));
}

static size_t put(unsigned char *at, uint32_t value, int little)
{
    for (int i = 0; i < 4; i++)
        at[little ? i : 3 - i] = (unsigned char)(value >> 8 * i);
    return 4;
}

/* A prologue, an entry of another name, and the capabilities. */
static size_t perf_data(unsigned char *bytes, int little, char first)
{
    static const char *const names[] = {"sun.rt.safepoints", "sun.rt.jvmCapabilities"};
    size_t at = 32;
    memset(bytes, 0, 512);
    put(bytes, 0xcafec0c0, 0);
    bytes[4] = (unsigned char)little;
    put(bytes + 24, 32, little);
    put(bytes + 28, 2, little);
    for (int i = 0; i < 2; i++) {
        uint32_t name = (uint32_t)strlen(names[i]) + 1, size = 20 + name + 65;
        put(bytes + at, size, little);
        put(bytes + at + 4, 20, little);
        put(bytes + at + 16, 20 + name, little);
        memcpy(bytes + at + 20, names[i], name);
        memset(bytes + at + 20 + name, first, 64);
        at += size;
    }
    return at;
}

static void reads_perf_data(void **state)
{
    (void)state;
    unsigned char bytes[512];
    for (int little = 0; little < 2; little++) {
        size_t len = perf_data(bytes, little, '1');
        assert_int_equal(bbf_attach_perf(bytes, len), 1);
        for (size_t cut = 0; cut < len - 65; cut++) /* cut off anywhere: no result */
            assert_int_equal(bbf_attach_perf(bytes, cut), -1);
        perf_data(bytes, little, '0');
        assert_int_equal(bbf_attach_perf(bytes, len), 0);
        put(bytes + 32, 0xffffffff, little); /* an entry without an end */
        assert_int_equal(bbf_attach_perf(bytes, len), -1);
        put(bytes + 24, 0xfffffff0, little);
        assert_int_equal(bbf_attach_perf(bytes, len), -1);
    }
    bytes[0] = 0;
    assert_int_equal(bbf_attach_perf(bytes, sizeof bytes), -1);
}

static void reads_flags(void **state)
{
    (void)state;
    static const char line[] = "java\0-XX:+DisableAttachMechanism\0Main";
    assert_int_equal(bbf_attach_flag(line, sizeof line), 0);
    static const char twice[] = "-XX:+DisableAttachMechanism\0-XX:-DisableAttachMechanism";
    assert_int_equal(bbf_attach_flag(twice, sizeof twice), 1);
    assert_int_equal(bbf_attach_flag("java\0Main", 10), -1);
    assert_int_equal(bbf_attach_flag("", 0), -1);
}

static void reads_answers(void **state)
{
    (void)state;
    const char *text;
    int code;
    assert_int_equal(bbf_attach_read_answer("0\nreturn code: 0\n", &code, &text),
                     BBF_ATTACH_LOADED);
    assert_int_equal(code, 0);
    assert_int_equal(bbf_attach_read_answer("0\nreturn code: 5\n", &code, &text),
                     BBF_ATTACH_LOADED);
    assert_int_equal(code, 5);
    assert_int_equal(bbf_attach_read_answer("0\n/x.so was not loaded.\n/x.so: no\n", &code, &text),
                     BBF_ATTACH_NOT_LOADED);
    assert_string_equal(text, "/x.so was not loaded.\n/x.so: no\n");
    assert_int_equal(bbf_attach_read_answer("101\nOperation not recognized!\n", &code, &text),
                     BBF_ATTACH_NOT_LOADED);
    assert_int_equal(code, 101);
    assert_int_equal(bbf_attach_read_answer("", &code, &text), BBF_ATTACH_NOT_LOADED);
    assert_int_equal(bbf_attach_read_answer("garbage", &code, &text), BBF_ATTACH_NOT_LOADED);
}

/* ---- What is left behind: a process that takes SIGQUIT as a JVM does, and never listens ---- */

static void ignore(int signal)
{
    (void)signal;
}

static pid_t start_deaf(void)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)signal(SIGQUIT, ignore);
        (void)!write(ready[1], "", 1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return pid;
}

static void end_deaf(pid_t pid)
{
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static bool has_trigger(pid_t pid)
{
    char path[64], here[64];
    snprintf(path, sizeof path, "/tmp/.attach_pid%ld", (long)pid);
    snprintf(here, sizeof here, ".attach_pid%ld", (long)pid);
    return access(path, F_OK) == 0 || access(here, F_OK) == 0;
}

static void nothing_is_left_after_a_time_out(void **state)
{
    (void)state;
    pid_t pid = start_deaf();
    assert_int_equal(bbf_attach_load(pid, "deaf", "/bin/sh", ""), BBF_EXIT_FAILED);
    assert_false(has_trigger(pid));
    end_deaf(pid);
}

/* In a process of its own, which is ended by `signal`: nothing is left, and it ends by it. */
static void nothing_is_left_after(int signal)
{
    pid_t pid = start_deaf();
    pid_t client = fork();
    int status;
    assert_true(client >= 0);
    if (client == 0)
        _exit(bbf_attach_load(pid, "deaf", "/bin/sh", ""));
    for (int i = 0; i < 5000 && !has_trigger(pid); i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    assert_true(has_trigger(pid));
    kill(client, signal);
    assert_int_equal(waitpid(client, &status, 0), client);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == signal);
    assert_false(has_trigger(pid));
    end_deaf(pid);
}

static void nothing_is_left_after_a_signal(void **state)
{
    (void)state;
    nothing_is_left_after(SIGINT);
    nothing_is_left_after(SIGTERM);
    nothing_is_left_after(SIGHUP);
}

/* It gets no signal, so that it prints no thread dump when it continues. */
static void a_stopped_process_is_sent_no_signal(void **state)
{
    char path[64], text[4096];
    (void)state;
    pid_t pid = start_deaf();
    int status;
    kill(pid, SIGSTOP);
    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    assert_int_equal(bbf_attach_load(pid, "stopped", "/bin/sh", ""), BBF_EXIT_FAILED);
    assert_false(has_trigger(pid));
    snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    assert_non_null(strstr(text, "ShdPnd:\t0000000000000000"));
    end_deaf(pid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_status),
        cmocka_unit_test(reads_perf_data),
        cmocka_unit_test(reads_flags),
        cmocka_unit_test(reads_answers),
        cmocka_unit_test(nothing_is_left_after_a_time_out),
        cmocka_unit_test(nothing_is_left_after_a_signal),
        cmocka_unit_test(a_stopped_process_is_sent_no_signal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
