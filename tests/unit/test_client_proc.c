/* link: bbf_client */
/* The main class from a command line, as the java launcher reads it, and what a process is. */
#include "client/proc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Arguments are joined by '|' here, by NUL in /proc. */
static const struct {
    const char *arguments;
    const char *main;
} command_lines[] = {
    {"java|com.app.Main", "com.app.Main"},
    {"/usr/lib/jvm/x/bin/java|-Xmx1g|-Dx=com.no.No|com.app.Main|-jar|no.jar", "com.app.Main"},
    {"java|-cp|/a:/b|com.app.Main", "com.app.Main"},
    {"java|-classpath|/a|--add-opens|a/b=c|-p|/mods|com.app.Main|x", "com.app.Main"},
    {"java|--class-path=/a|com.app.Main", "com.app.Main"},
    {"java|--add-exports=java.base/x=y|com.app.Main", "com.app.Main"},
    {"java|-agentpath:/x/libbbflow.so=include=com.app|com.app.Main", "com.app.Main"},
    {"java|-jar|/srv/app.jar|com.no.No", "app.jar"},
    {"java|-Xmx1g|-jar|app.jar", "app.jar"},
    {"java|-m|com.mod/com.app.Main", "com.app.Main"},
    {"java|--module|com.mod/com.app.Main|x", "com.app.Main"},
    {"java|--module=com.mod/com.app.Main", "com.app.Main"},
    {"java|--module=com.mod", "com.mod"},
    {"java|-m|com.mod", "com.mod"},
    {"java|@args|com.app.Main", "com.app.Main"},
    {"java|@args", ""},
    {"java|--source|17|/home/x/Main.java", "Main.java"},
    /* nothing there, or cut */
    {"java", ""},
    {"java|-jar", ""},
    {"java|-m", ""},
    {"java|-cp", ""},
    {"java|-cp|/a", ""},
    {"", ""},
    /* not the launcher */
    {"/opt/app/bin/server|--port|80", "server"},
    {"javac|X.java", "javac"},
};

static void the_main_class_is_found_behind_the_options(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof command_lines / sizeof command_lines[0]; i++) {
        size_t len = strlen(command_lines[i].arguments);
        /* Exactly as many bytes as there are, for the sanitizer; with the last NUL and without. */
        for (size_t with_nul = 0; with_nul < 2; with_nul++) {
            char *bytes = malloc(len + 1);
            assert_non_null(bytes);
            memcpy(bytes, command_lines[i].arguments, len + 1);
            for (size_t k = 0; k < len; k++) {
                if (bytes[k] == '|')
                    bytes[k] = '\0';
            }
            char *exact = malloc(len + with_nul > 0 ? len + with_nul : 1);
            assert_non_null(exact);
            memcpy(exact, bytes, len + with_nul);
            char *main_class = bbf_main_of_cmdline(exact, len + with_nul);
            assert_string_equal(main_class, command_lines[i].main);
            free(main_class);
            free(exact);
            free(bytes);
        }
    }
}

static void this_process_is_no_jvm_and_ours(void **state)
{
    uid_t owner = (uid_t)-1;
    (void)state;
    assert_int_equal(bbf_proc_kind_of(getpid(), &owner), BBF_PROC_OTHER);
    assert_int_equal(owner, geteuid());
    assert_int_equal(bbf_proc_kind_of(0, NULL), BBF_PROC_NONE);
    assert_int_equal(bbf_proc_kind_of(-1, NULL), BBF_PROC_NONE);
    assert_int_equal(bbf_proc_kind_of(0x7fffffff, NULL), BBF_PROC_NONE);
    char *name = bbf_proc_main(getpid());
    assert_string_equal(name, "test_client_proc");
    free(name);
    name = bbf_proc_main(0x7fffffff);
    assert_string_equal(name, "");
    free(name);
}

static void count_if_ours(void *ctx, pid_t pid)
{
    if (pid == getpid())
        ++*(int *)ctx;
}

static void every_process_is_visited_once(void **state)
{
    int seen = 0;
    (void)state;
    bbf_proc_each(&seen, count_if_ours);
    assert_int_equal(seen, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_main_class_is_found_behind_the_options),
        cmocka_unit_test(this_process_is_no_jvm_and_ours),
        cmocka_unit_test(every_process_is_visited_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
