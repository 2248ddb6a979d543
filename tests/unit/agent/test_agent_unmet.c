/* link: bbf_agent fake_jvm */
/* agent/classes/{unmet,suggestions,netty_version,archive,dump}.c: what the loaded classes tell a
 * user whose report is empty; hostile names and missing memory. */
#include "agent/classes/archive.h"
#include "agent/classes/dump.h"
#include "agent/classes/netty_version.h"
#include "agent/classes/suggestions.h"
#include "agent/classes/unmet.h"
#include "tests/unit/agent/agent_world.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *path; /* what the code source's location says; NULL: there is none */

static jvalue give_object(JNIEnv *env, jobject self, const jvalue *arguments)
{
    (void)env;
    (void)self;
    (void)arguments;
    if (path == NULL)
        return (jvalue){.l = NULL};
    return (jvalue){.l = fake_give(fake_object(fake_find_class("java/lang/Object")))};
}

static jvalue give_path(JNIEnv *env, jobject self, const jvalue *arguments)
{
    (void)env;
    (void)self;
    (void)arguments;
    return (jvalue){.l = path == NULL ? NULL : fake_give(fake_string(path))};
}

static void a_method(const char *class, const char *name, const char *descriptor, fake_body body)
{
    fake_does(fake_method(fake_class(class, NULL), name, descriptor, 1), body);
}

static void begin(void)
{
    world_begin();
    path = "/opt/lib/netty-buffer-4.1.140.Final.jar";
    a_method("java/lang/Class", "getProtectionDomain", "()Ljava/security/ProtectionDomain;",
             give_object);
    a_method("java/security/ProtectionDomain", "getCodeSource", "()Ljava/security/CodeSource;",
             give_object);
    a_method("java/security/CodeSource", "getLocation", "()Ljava/net/URL;", give_object);
    a_method("java/net/URL", "getPath", "()Ljava/lang/String;", give_path);
    world_class("io/netty/buffer/ByteBuf", NULL);
    world_class("com/app/net/Server", NULL);
    world_class("com/app/web/Page", NULL);
    world_class("org/else/Thing", NULL);
    world_class("NoPackage", NULL);
    fake_class("[Lcom/app/net/Server;", NULL);
}

static int setup(void **state)
{
    (void)state;
    begin();
    return 0;
}

/* ---- suggestions ---- */

static void the_nearest_packages_come_first(void **state)
{
    struct bbf_buf out = BBF_BUF_INIT;
    (void)state;
    const struct bbf_rules *rules = world_rules("include=com.app.nett");
    bbf_suggest_packages(fake_env(), rules->options.include, &out);
    assert_string_equal(bbf_buf_cstr(&out),
                        "; nearest loaded packages: com.app.net, com.app.web, com.app");
    bbf_buf_free(&out);
}

static void a_package_of_any_length_is_no_harm(void **state)
{
    struct bbf_buf out = BBF_BUF_INIT;
    char name[420];
    (void)state;
    for (size_t n = 190; n < 210; n++) {
        memset(name, 'p', n);
        memcpy(name + n, "/C", 3);
        world_class(name, NULL);
    }
    memset(name, 'q', 400);
    memcpy(name + 400, "/C", 3);
    world_class(name, NULL);
    const struct bbf_rules *rules = world_rules("include=ppp");
    bbf_suggest_packages(fake_env(), rules->options.include, &out);
    assert_non_null(strstr(bbf_buf_cstr(&out), "com.app.net"));
    bbf_buf_free(&out);
}

/* ---- the version ---- */

static void assert_version(const char *location, const char *version)
{
    char out[40];
    path = location;
    bbf_netty_version(fake_env(), "io.netty", out, sizeof out);
    assert_string_equal(out, version);
}

static void the_version_is_that_of_the_jar(void **state)
{
    char out[40];
    (void)state;
    assert_version("/opt/lib/netty-buffer-4.1.140.Final.jar", "4.1.140.Final");
    assert_version("/m2/netty-4.2/4.2.1/netty-all-4.2.1.jar", "4.2.1");
    assert_version("/classes/", "unknown");
    assert_version("/lib/netty.jar", "unknown");
    assert_version("", "unknown");
    assert_version(NULL, "unknown");
    assert_version("/lib/netty-4.111111111111111111111111111111111111111111111111111.jar",
                   "4.1111111111111111111111111111111111111");
    bbf_netty_version(fake_env(), "org.absent", out, sizeof out);
    assert_string_equal(out, "unknown");
}

/* ---- include= ---- */

static void classes_that_take_no_buffer_are_explained_by_their_types(void **state)
{
    struct bbf_buf note = BBF_BUF_INIT;
    (void)state;
    struct fake_class *server = fake_find_class("com/app/net/Server");
    struct fake_class *message = world_class("org/lib/Message", NULL);
    fake_field(message, "payload", "Lio/netty/buffer/ByteBuf;");
    fake_method(server, "handle", "(Lorg/lib/Message;Ljava/lang/String;)V", 1);
    fake_method(server, "other", "(Lorg/lib/Plain;Lorg/lib/Plain;)V", 1);
    fake_field(server, "broken", "Lno/end"); /* JVMTI would not, but no byte beyond is read */
    assert_true(bbf_unmet_include(fake_env(), world_rules("include=com.app.net"), &note));
    assert_non_null(strstr(bbf_buf_cstr(&note), "include= matches 1 loaded class"));
    assert_non_null(strstr(bbf_buf_cstr(&note), "inside of org.lib.Message"));
    assert_non_null(strstr(bbf_buf_cstr(&note), "as include=org.lib;"));
    assert_non_null(strstr(bbf_buf_cstr(&note), "carriers=on at the start follows"));
    note.len = 0;
    assert_true(
        bbf_unmet_include(fake_env(), world_rules("include=com.app.net,carriers=on"), &note));
    assert_null(strstr(bbf_buf_cstr(&note), "carriers=on"));
    bbf_buf_free(&note);
}

static void what_matches_nothing_leaves_the_note_alone(void **state)
{
    struct bbf_buf note = BBF_BUF_INIT;
    (void)state;
    bbf_buf_str(&note, "as it was");
    assert_false(bbf_unmet_include(fake_env(), world_rules("include=com.absent"), &note));
    assert_false(bbf_unmet_include(fake_env(), world_rules("refs=on"), &note));
    assert_string_equal(bbf_buf_cstr(&note), "as it was");
    bbf_buf_free(&note);
}

/* ---- track= ---- */

static const char *note_of_track(const char *text)
{
    static struct bbf_snapshot *s;
    static char note[600];
    s = bbf_snapshot_new();
    assert_int_equal(bbf_unmet_tracks(fake_env(), world_rules(text), s), BBF_OK);
    snprintf(note, sizeof note, "%s", s->n_notes > 0 ? s->notes[0] : "");
    bbf_snapshot_free(s);
    return note;
}

static void an_entry_that_no_class_fits_has_the_nearest(void **state)
{
    (void)state;
    struct fake_class *server = fake_find_class("com/app/net/Server");
    fake_method(server, "shutdown", "()V", 1);
    assert_string_equal(note_of_track("track=com.app.net.Servet:shutdown"),
                        "track=com.app.net.Servet:shutdown matches no loaded class so far: no "
                        "object is followed for it; nearest loaded class: com.app.net.Server");
    assert_string_equal(note_of_track("track=com.app.net.Server:shutdwn"),
                        "track=com.app.net.Server:shutdwn: com.app.net.Server has no method "
                        "shutdwn, so its objects are not followed; nearest: shutdown");
    assert_string_equal(note_of_track("track=com.app.net.Server:shutdown"), "");
}

static void a_default_method_counts_as_its_own(void **state)
{
    (void)state;
    struct fake_class *closeable = world_class("com/app/Closeable", NULL);
    fake_method(closeable, "close", "()V", 1);
    fake_implements(fake_find_class("com/app/web/Page"), closeable);
    assert_string_equal(note_of_track("track=com.app.web.Page:close"), "");
}

/* Each interface extends itself: no class file can, but an agent's bytes might. */
static void interfaces_in_a_circle_end(void **state)
{
    (void)state;
    struct fake_class *circle = world_class("com/app/Circle", NULL);
    fake_implements(circle, circle);
    assert_non_null(strstr(note_of_track("track=com.app.Circle:close"), "has no method close"));
}

/* ---- why before bbflow ---- */

static void the_remedy_depends_on_how_bbflow_came(void **state)
{
    (void)state;
    jclass class = fake_local_class(fake_find_class("io/netty/buffer/ByteBuf"));
    jvmtiEnv *jvmti = bbf_agent.code;
    assert_string_equal(bbf_archive_why_before(jvmti, class, true), "it was loaded before bbflow");
    bbf_agent.jdk = 17;
    assert_non_null(strstr(bbf_archive_why_before(jvmti, class, false), "put bbflow's -agentpath"));
    bbf_agent.jdk = 25;
    fake_status(fake_find_class("io/netty/buffer/ByteBuf"), JVMTI_CLASS_STATUS_PREPARED);
    assert_non_null(strstr(bbf_archive_why_before(jvmti, class, false), "or by the JVM's AOT"));
    fake_property("java.home", "/");
    assert_non_null(strstr(bbf_archive_why_before(jvmti, class, false), "or by the JVM's AOT"));
}

/* ---- dump= ---- */

static void a_class_is_dumped_by_its_name(void **state)
{
    char folder[] = "/tmp/bbf-dump-XXXXXX", option[100], file[200], long_name[5000];
    struct bbf_buf note = BBF_BUF_INIT;
    struct stat s;
    (void)state;
    assert_non_null(mkdtemp(folder));
    bbf_dump("com/app/Main", "before", (const unsigned char *)"bytes", 5); /* not asked for */
    snprintf(option, sizeof option, "dump=%s", folder);
    world_rules(option);
    bbf_dump("com/app/Main", "before", (const unsigned char *)"bytes", 5);
    snprintf(file, sizeof file, "%s/com.app.Main.before.class", folder);
    assert_int_equal(stat(file, &s), 0);
    assert_int_equal(s.st_size, 5);
    bbf_dump_note(&note);
    assert_int_equal(note.len, 0);
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    bbf_dump(long_name, "before", (const unsigned char *)"bytes", 5);
    bbf_dump("../../x", "before", (const unsigned char *)"bytes", 5); /* stays in the folder */
    bbf_dump_note(&note);
    assert_non_null(strstr(bbf_buf_cstr(&note), "1 class file could not be written; the first: a "
                                                "class has too long a name"));
    bbf_buf_free(&note);
    unlink(file);
    snprintf(file, sizeof file, "%s/......x.before.class", folder);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void work(void)
{
    struct bbf_buf out = BBF_BUF_INIT;
    struct bbf_snapshot *s = bbf_snapshot_new();
    char version[40];
    fake_method(fake_find_class("com/app/net/Server"), "shut", "(Lorg/else/Thing;)V", 1);
    fake_field(fake_find_class("org/else/Thing"), "b", "Lio/netty/buffer/ByteBuf;");
    const struct bbf_rules *rules = world_rules("include=com.app.net,track=com.app.x.Y:close");
    bbf_suggest_packages(fake_env(), rules->options.include, &out);
    bbf_netty_version(fake_env(), "io.netty", version, sizeof version);
    (void)bbf_unmet_include(fake_env(), rules, &out);
    (void)bbf_unmet_tracks(fake_env(), rules, s);
    (void)bbf_archive_why_before(
        bbf_agent.code, fake_local_class(fake_find_class("io/netty/buffer/ByteBuf")), false);
    bbf_snapshot_free(s);
    bbf_buf_free(&out);
}

static void whichever_call_fails_nothing_is_left_behind(void **state)
{
    (void)state;
    assert_in_range(world_each_fault(begin, work, world_free), 80, 1000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_nearest_packages_come_first),
        TEST(a_package_of_any_length_is_no_harm),
        TEST(the_version_is_that_of_the_jar),
        TEST(classes_that_take_no_buffer_are_explained_by_their_types),
        TEST(what_matches_nothing_leaves_the_note_alone),
        TEST(an_entry_that_no_class_fits_has_the_nearest),
        TEST(a_default_method_counts_as_its_own),
        TEST(interfaces_in_a_circle_end),
        TEST(the_remedy_depends_on_how_bbflow_came),
        TEST(a_class_is_dumped_by_its_name),
        cmocka_unit_test(whichever_call_fails_nothing_is_left_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
