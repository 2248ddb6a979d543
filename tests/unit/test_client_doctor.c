/* link: bbf_client */
/*
 * tests/unit/test_client_doctor.c - `bbflow doctor`: each rule by facts that break it alone, what
 * is read (options, an ELF file, a jar, a status), and the text and the JSON byte for byte. Whole
 * JVMs: tests/jvm/doctor.py.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "client/doctor.h"
#include "core/libc/any_libc.h"
#include "client/doctor_show.h"
#include "client/next_start.h"
#include "core/buf.h"

/* ---- Facts of a JVM that has no fault -------------------------------------------------------- */

static struct bbf_jvm_facts jvm;
static struct bbf_library_facts library;
static struct bbf_findings findings;

static char *copy(const char *text)
{
    char *made = strdup(text);
    assert_non_null(made);
    return made;
}

static void add(struct bbf_words *words, const char *text)
{
    bbf_words_add(words, text, strlen(text));
}

/* A JVM without the agent, that could have it. */
static int set_up(void **state)
{
    (void)state;
    jvm = (struct bbf_jvm_facts){.pid = 4711,
                                 .kind = BBF_PROC_JVM,
                                 .owner = geteuid(),
                                 .java = 17,
                                 .has_status = true,
                                 .has_perf = true,
                                 .reads_perf = true,
                                 .attach = true,
                                 .named = true,
                                 .has_libz = true,
                                 .cwd_writable = true};
    jvm.main_class = copy("com.shop.api.Main");
    jvm.status.catches_quit = true;
    jvm.tmp.seen = jvm.tmp.writable = true;
    jvm.elf = (struct bbf_elf){62, BBF_LIBC_GLIBC, 36, false};
    library = (struct bbf_library_facts){
        .path = "/opt/bbflow/libbbflow.so", .there = true, .elf = {62, BBF_LIBC_GLIBC, 34, true}};
    findings = (struct bbf_findings){.items = NULL};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    bbf_findings_free(&findings);
    bbf_jvm_facts_free(&jvm);
    return 0;
}

/* The agent runs, and has followed 5 buffers. */
static void with_agent(void)
{
    jvm.kind = BBF_PROC_AGENT;
    jvm.mapped_agent = copy("/opt/bbflow/libbbflow.so");
    jvm.agent.answered = jvm.agent.has_lives = true;
    jvm.agent.lives = 5;
    snprintf(jvm.agent.version, sizeof jvm.agent.version, "%s", BBF_VERSION);
    add(&jvm.words, "-agentpath:/opt/bbflow/libbbflow.so=include=com.shop");
}

static const struct bbf_finding *found(const char *id)
{
    for (size_t i = 0; i < findings.count; i++)
        if (strcmp(findings.items[i].id, id) == 0)
            return &findings.items[i];
    return NULL;
}

static void judge(void)
{
    bbf_findings_free(&findings);
    bbf_doctor_judge(&findings, &jvm, &library);
    assert_false(findings.failed);
}

/* The finding is there, as severe as this, with its text and remedy. */
static void expect(const char *id, enum bbf_severity severity, const char *what, const char *remedy)
{
    judge();
    const struct bbf_finding *finding = found(id);
    if (finding == NULL)
        fail_msg("%s is not found", id);
    assert_int_equal(finding->severity, severity);
    if (strstr(finding->what, what) == NULL)
        fail_msg("%s: '%s' has no '%s'", id, finding->what, what);
    if (strstr(finding->remedy, remedy) == NULL)
        fail_msg("%s: '%s' has no '%s'", id, finding->remedy, remedy);
}

static void expect_none(const char *id)
{
    judge();
    if (found(id) != NULL)
        fail_msg("%s: %s", id, found(id)->what);
}

/* ---- Can it be loaded? ----------------------------------------------------------------------- */

static void a_healthy_jvm_has_no_finding(void **state)
{
    (void)state;
    with_agent();
    judge();
    assert_false(bbf_findings_matter(&findings));
    assert_int_equal(findings.count, 0);
    assert_string_equal(findings.next, "-agentpath:/opt/bbflow/libbbflow.so=include=com.shop.api");
}

static void a_jvm_without_the_agent(void **state)
{
    (void)state;
    expect("agent-not-loaded", BBF_STOPS, "not loaded", "bbflow attach 4711 include=com.shop.api");
    assert_int_equal(findings.count, 2);
    assert_non_null(found("no-netty"));
    jvm.named = false; /* one of all, without Netty: it may be a build tool */
    expect("agent-not-loaded", BBF_KNOW, "not loaded", "");
    assert_false(bbf_findings_matter(&findings));
    jvm.jars.count = 1;
    jvm.jars.nettys[0] = (struct bbf_netty_jar){4, "io.netty", "4.1.100.Final", "/app.jar"};
    expect("agent-not-loaded", BBF_STOPS, "not loaded", "");
}

static void attach_is_forbidden_by_options(void **state)
{
    (void)state;
    expect_none("attach-off");
    expect_none("dynamic-loading-off");
    expect_none("dynamic-loading-warns");
    jvm.attach = false;
    expect("attach-off", BBF_STOPS, "DisableAttachMechanism", "with the agent");
    assert_string_equal(found("agent-not-loaded")->remedy,
                        "remove what stops an attach, or start the JVM with the agent");
    jvm.attach = true;
    jvm.java = 25;
    expect("dynamic-loading-warns", BBF_KNOW, "Java 25", "-XX:+EnableDynamicAgentLoading");
    add(&jvm.words, "-XX:-EnableDynamicAgentLoading");
    expect("dynamic-loading-off", BBF_STOPS, "EnableDynamicAgentLoading", "");
    expect_none("dynamic-loading-warns");
    add(&jvm.words, "-XX:+EnableDynamicAgentLoading"); /* the last one counts */
    expect_none("dynamic-loading-off");
    expect_none("dynamic-loading-warns");
    jvm.status.catches_quit = false;
    expect("no-sigquit", BBF_STOPS, "SIGQUIT", "-Xrs");
}

static void folders_that_an_attach_needs(void **state)
{
    (void)state;
    jvm.tmp.writable = false;
    expect_none("tmp-not-writable"); /* its working folder serves */
    jvm.cwd_writable = false;
    expect("tmp-not-writable", BBF_STOPS, "/tmp", "emptyDir");
    jvm.listens = true; /* its listener runs already */
    expect_none("tmp-not-writable");
    jvm.listens = false;
    jvm.cwd_writable = jvm.tmp.writable = true;
    jvm.tmp.noexec = true;
    expect_none("tmp-noexec"); /* the library is taken where it is */
    jvm.other_files = true;
    expect("tmp-noexec", BBF_STOPS, "noexec", "at its start");
    assert_non_null(found("container"));
}

static void a_library_that_cannot_be_loaded(void **state)
{
    (void)state;
    jvm.elf.machine = 183;
    expect("other-machine", BBF_STOPS, "x86-64, the JVM is for aarch64", "--agent");
    jvm.elf.machine = 62;
    jvm.elf.libc = BBF_LIBC_MUSL;
    expect("other-libc", BBF_STOPS, "glibc, the JVM runs on musl", "--agent");
    library.elf.libc = BBF_LIBC_UNKNOWN;
    expect_none("other-libc");
    library.elf.libc = BBF_LIBC_GLIBC;
    jvm.elf = (struct bbf_elf){62, BBF_LIBC_GLIBC, 31, false};
    expect("glibc-too-old", BBF_STOPS, "needs glibc 2.34, the JVM has glibc 2.31", "--agent");
    jvm.elf.glibc_minor = 34;
    expect_none("glibc-too-old");
    jvm.has_libz = false;
    expect("no-libz", BBF_LIMITS, "libz.so.1", "zlib1g");
    library.noexec = true;
    expect("noexec", BBF_STOPS, "noexec", "--agent");
    library.there = false;
    expect("no-library", BBF_STOPS, "not there", "--agent");
    with_agent(); /* a library that is loaded needs none of this but to be there */
    library.there = true;
    expect_none("noexec");
    expect_none("no-libz");
}

static void the_jvm_itself(void **state)
{
    (void)state;
    jvm.java = 8;
    expect("java-too-old", BBF_STOPS, "Java 8", "Java 11 to 25");
    jvm.java = 26;
    expect("java-not-tested", BBF_LIMITS, "Java 26", "");
    jvm.java = 0; /* unknown: no conclusion */
    expect_none("java-too-old");
    expect_none("java-not-tested");
    jvm.vm = copy("Eclipse OpenJ9 VM");
    expect("not-hotspot", BBF_STOPS, "OpenJ9", "HotSpot");
    jvm.stopped = true;
    expect("stopped", BBF_STOPS, "SIGSTOP", "kill -CONT 4711");
    jvm.owner = geteuid() + 1;
    if (geteuid() != 0)
        expect("other-user", BBF_STOPS, "belongs to user", "root");
    else
        expect_none("other-user");
    jvm.kind = BBF_PROC_FORBIDDEN;
    expect("no-permission", BBF_STOPS, "may not look", "");
    assert_int_equal(findings.count, 1);
    assert_null(findings.next);
}

static void an_agent_that_does_not_answer(void **state)
{
    (void)state;
    with_agent();
    jvm.agent.answered = false;
    snprintf(jvm.agent.why, sizeof jvm.agent.why, "no socket of it was found");
    expect("agent-silent", BBF_STOPS, "no socket of it was found", "socket=DIR");
    jvm.kind = BBF_PROC_JVM; /* given on the command line, but not mapped */
    free(jvm.mapped_agent);
    jvm.mapped_agent = NULL;
    expect("agent-refused", BBF_STOPS, "has not loaded it", "stderr");
    expect_none("agent-not-loaded");
}

/* ---- What does it see? ----------------------------------------------------------------------- */

static void notes_of_the_agent(void **state)
{
    (void)state;
    with_agent();
    jvm.agent.lives = 0;
    expect("no-lives", BBF_LIMITS, "no buffer", "bbflow tree 4711");
    add(&jvm.agent.notes, "include matched no class with a buffer; nearest loaded packages: "
                          "net.store.web.in, net.store  ");
    expect("include-matches-nothing", BBF_STOPS, "nearest",
           "bbflow set 4711 include=net.store.web");
    assert_null(found("no-lives")); /* explained by the note */
    assert_string_equal(findings.next, "-agentpath:/opt/bbflow/libbbflow.so=include=net.store.web");
    char *last = jvm.agent.notes.items[jvm.agent.notes.count - 1];
    snprintf(strstr(last, "net.store"), 27, "com.other, com.shop, x.y");
    expect("include-matches-nothing", BBF_STOPS, "nearest", "bbflow set 4711 include=com.shop");
    add(&jvm.agent.notes, "tracking is off: 3 internal errors");
    expect("tracking-off", BBF_STOPS, "3 internal errors", "stderr");
    add(&jvm.agent.notes, "something new \033[31m");
    expect("note", BBF_LIMITS, "something new", "");
    add(&jvm.agent.notes, "io.netty.buffer.ByteBuf has no place for bbflow's mark: x. Remedy: y");
    expect("found-by-table", BBF_LIMITS, "Remedy: y", "");
    assert_int_equal(findings.items[0].severity, BBF_STOPS); /* sorted */
    assert_int_equal(findings.items[findings.count - 1].severity, BBF_LIMITS);
}

static void settings_and_limits(void **state)
{
    static const char *const usual[] = {"sample=1", "trackDirectOnly=false", "budget=off",
                                        "duty=off"};
    static const char *const unusual[] = {"sample=64", "trackDirectOnly=true", "budget=1%",
                                          "duty=2%"};
    static const char *const ids[] = {"sample", "trackDirectOnly", "budget", "duty"};
    (void)state;
    with_agent();
    for (size_t i = 0; i < 4; i++)
        add(&jvm.agent.settings, usual[i]);
    judge();
    assert_int_equal(findings.count, 0);
    for (size_t i = 0; i < 4; i++) {
        char remedy[64];
        snprintf(remedy, sizeof remedy, "bbflow set 4711 %s", usual[i]);
        add(&jvm.agent.settings, unusual[i]);
        expect(ids[i], BBF_LIMITS, unusual[i], remedy);
    }
    add(&jvm.agent.limits, "maxNodes: 100 of 100, reached 7 times");
    expect("limit-reached", BBF_LIMITS, "reached 7 times", "bbflow set 4711 maxNodes=MORE");
    snprintf(jvm.agent.version, sizeof jvm.agent.version, "0.0.9");
    expect("other-version", BBF_LIMITS, "0.0.9", "version");
}

static void nettys(void **state)
{
    (void)state;
    with_agent();
    add(&jvm.agent.netty, "4.1.100.Final io.netty");
    judge();
    assert_null(found("several-nettys"));
    add(&jvm.agent.netty, "4.1.50.Final com.x.shaded.io.netty");
    expect("several-nettys", BBF_KNOW, "2 Nettys", "shaded");
    jvm.agent.answered = false;
    jvm.jars.count = 3;
    jvm.jars.nettys[0] = (struct bbf_netty_jar){4, "io.netty", "4.0.56.Final", "/a.jar"};
    jvm.jars.nettys[1] = (struct bbf_netty_jar){3, "org.jboss.netty", "3.10.6.Final", "/b.jar"};
    jvm.jars.nettys[2] = (struct bbf_netty_jar){4, "x.io.netty", "4.1.9.Final", "/c.jar"};
    expect("old-netty", BBF_LIMITS, "4.0.56", "4.1");
    expect("other-netty", BBF_LIMITS, "Netty 3", "4.1");
    expect("netty", BBF_KNOW, "shaded as x.io.netty", "");
    expect("several-nettys", BBF_KNOW, "3 Nettys", "");
}

static void how_it_was_started(void **state)
{
    (void)state;
    jvm.java = 25;
    jvm.aot = copy("/srv/app.aot");
    expect("aot-cache", BBF_LIMITS, "AOT cache", "-XX:-AOTClassLinking");
    jvm.archive = copy("/srv/app.jsa");
    expect("cds-archive", BBF_KNOW, "CDS archive", "without bbflow");
    add(&jvm.words, "-javaagent:/x/otel.jar=password=secret");
    expect("other-agent", BBF_KNOW, "-javaagent:/x/otel.jar", "before it");
    assert_null(strstr(found("other-agent")->what, "secret"));
    add(&jvm.words, "-Xverify:none");
    expect("verification-off", BBF_KNOW, "not verified", "without");
    jvm.has_perf = false;
    expect("perf-data-off", BBF_KNOW, "no performance data", "-XX:+UsePerfData");
    jvm.reads_perf = false; /* /tmp could not be read: unknown */
    expect_none("perf-data-off");
    expect_none("leak-detector");
    add(&jvm.words, "-Dio.netty.leakDetection.level=paranoid");
    expect("leak-detector", BBF_KNOW, "paranoid", "disabled");
    add(&jvm.words, "-Dio.netty.leakDetection.level=DISABLED");
    expect_none("leak-detector");
}

/* ---- The next start -------------------------------------------------------------------------- */

static void the_next_start_keeps_other_options(void **state)
{
    char option[256];
    bool put_it_there;
    (void)state;
    add(&jvm.words, "-agentpath:/x/libbbflow.so=sample=4,include=a.b,age=5m");
    assert_true(bbf_next_start(&jvm, &library, option, sizeof option, &put_it_there));
    assert_string_equal(option, "-agentpath:/x/libbbflow.so=include=com.shop.api,sample=4,age=5m");
    free(jvm.main_class);
    jvm.main_class = copy("org.springframework.boot.loader.JarLauncher");
    assert_true(bbf_next_start(&jvm, &library, option, sizeof option, &put_it_there));
    assert_string_equal(option, "-agentpath:/x/libbbflow.so=include=a.b,sample=4,age=5m");
    add(&jvm.words, "-agentpath:/x/libbbflow.so=file=/a b.json"); /* a shell would split it */
    assert_true(bbf_next_start(&jvm, &library, option, sizeof option, &put_it_there));
    assert_string_equal(option, "'-agentpath:/x/libbbflow.so=file=/a b.json'");
    add(&jvm.words, "-agentpath:/x/libbbflow.so=file=$(id)'");
    assert_false(bbf_next_start(&jvm, &library, option, sizeof option, &put_it_there));
    expect("path-not-usable", BBF_LIMITS, "cannot take", "elsewhere");
}

/* ---- What is read ---------------------------------------------------------------------------- */

static void options_of_all_sources(void **state)
{
    static const char arguments[] = "-Xmx1g\0-Dx=a b\0";
    static const char environ[] = "A=b\0JAVA_TOOL_OPTIONS=-Dq=\"a b\"  -Xms1m\0_JAVA_OPTIONSX=-no";
    struct bbf_words words = {.items = NULL};
    (void)state;
    bbf_words_of_environ(&words, environ, sizeof environ, "JAVA_TOOL_OPTIONS");
    bbf_words_of_environ(&words, environ, sizeof environ, "_JAVA_OPTIONS");
    bbf_words_of_arguments(&words, arguments, sizeof arguments - 1);
    bbf_words_of_line(&words, "-Dq=a b -Xmx1g -Dx=a b -XX:-UsePerfData");
    assert_int_equal(words.count, 5);
    assert_string_equal(words.items[0], "-Dq=a b");
    assert_string_equal(words.items[1], "-Xms1m");
    assert_string_equal(words.items[4], "-XX:-UsePerfData");
    assert_string_equal(bbf_words_last(&words, "-Dx="), "a b");
    assert_null(bbf_words_last(&words, "-Dy="));
    assert_int_equal(bbf_words_switch(&words, "UsePerfData"), 0);
    assert_int_equal(bbf_words_switch(&words, "UsePerf"), -1);
    bbf_words_free(&words);
}

static void a_status(void **state)
{
    struct bbf_agent_answer answer = {.answered = false};
    (void)state;
    assert_false(bbf_agent_read_status(&answer, "fake answer to status"));
    assert_false(bbf_agent_read_status(&answer, "bbflow 1\nx in JVM 5"));
    assert_true(bbf_agent_read_status(
        &answer, "bbflow 1.2.3 in JVM 5 (Main), 17.0.1\n"
                 "netty              4.1.100.Final io.netty\n"
                 "note               no include= given: x\n"
                 "settings\n  include=com.app+b\n  port=0 (not served: x)\n"
                 "limits             used / limit, times reached\n"
                 "  maxNodes         17 / 1000, 0\n  memory           9 / 9, 4\n"
                 "totals\n  lives              42\n  released           40\n"
                 "since the start, whatever was reset\n  lives              99\n"));
    assert_string_equal(answer.version, "1.2.3");
    assert_int_equal(answer.netty.count, 1);
    assert_string_equal(answer.notes.items[0], "no include= given: x");
    assert_string_equal(bbf_agent_setting(&answer, "include"), "com.app+b");
    assert_string_equal(bbf_agent_setting(&answer, "port"), "0");
    assert_int_equal(answer.limits.count, 1);
    assert_string_equal(answer.limits.items[0], "memory: 9 of 9, reached 4 times");
    assert_int_equal(answer.lives, 42);
    bbf_agent_answer_free(&answer);
}

static void entries_of_jars(void **state)
{
    static const struct {
        const char *name;
        int major; /* 0: it is no Netty */
        const char *package, *version;
    } entries[] = {
        {"io/netty/buffer/ByteBuf.class", 4, "io.netty", ""},
        {"com/x/shaded/io/netty/buffer/ByteBuf.class", 4, "com.x.shaded.io.netty", ""},
        {"BOOT-INF/lib/netty-buffer-4.1.100.Final.jar", 4, "io.netty", "4.1.100.Final"},
        {"WEB-INF/classes/io/netty/buffer/ByteBuf.class", 4, "io.netty", ""},
        {"lib/netty-3.10.6.Final.jar", 3, "org.jboss.netty", "3.10.6.Final"},
        {"org/jboss/netty/buffer/ChannelBuffer.class", 3, "org.jboss.netty", ""},
        {"io/netty5/buffer/Buffer.class", 5, "io.netty5", ""},
        {"META-INF/versions/9/io/netty/buffer/ByteBuf.class", 0, "", ""},
        {"io/mynetty/buffer/ByteBuf.class", 0, "", ""},
        {"lib/netty-buffer-api.jar", 0, "", ""},
        {"lib/netty-codec-4.1.100.Final.jar", 0, "", ""},
        {"", 0, "", ""},
        {".jar", 0, "", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        struct bbf_netty_jar netty;
        assert_int_equal(bbf_jars_entry(entries[i].name, &netty), entries[i].major != 0);
        assert_int_equal(netty.major, entries[i].major);
        assert_string_equal(netty.package, entries[i].package);
        assert_string_equal(netty.version, entries[i].version);
    }
}

static void a_file_that_is_no_jar_is_counted(void **state)
{
    struct bbf_jars jars = {.count = 0};
    (void)state;
    bbf_jars_read_one(&jars, "/dev/zero", "/dev/zero");
    bbf_jars_read_one(&jars, "/nosuch", "/nosuch");
    bbf_jars_read_one(&jars, "/proc/self/exe", "/x/netty-all-4.1.1.jar");
    assert_int_equal(jars.count, 0);
    assert_int_equal(jars.read, 0);
    assert_int_equal(jars.skipped, 3);
}

static void elf_files(void **state)
{
    unsigned char bytes[128] = "\177ELF\2\1\1";
    (void)state;
    bytes[18] = 183;
    memcpy(bytes + 24, "\0libc.so.6\0GLIBC_2.34\0GLIBC_2.5", 32);
    struct bbf_elf elf = bbf_elf_facts(bytes, sizeof bytes);
    assert_int_equal(elf.machine, 183);
    assert_int_equal(elf.libc, BBF_LIBC_GLIBC);
    assert_int_equal(elf.glibc_minor, 34);
    /* A release's: the names are glibc's, and it runs with both. */
    memcpy(bytes + 64, BBF_ANY_LIBC, sizeof BBF_ANY_LIBC);
    elf = bbf_elf_facts(bytes, sizeof bytes);
    assert_int_equal(elf.libc, BBF_LIBC_UNKNOWN);
    assert_int_equal(elf.glibc_minor, 34);
    assert_int_equal(bbf_elf_facts(bytes, 19).machine, 0);
    bytes[0] = 'x';
    assert_int_equal(bbf_elf_facts(bytes, sizeof bytes).machine, 0);
    elf = bbf_elf_read("/proc/self/exe");
    assert_true(elf.machine != 0 && elf.libc == BBF_LIBC_UNKNOWN); /* this program has the text */
}

/* ---- What is shown --------------------------------------------------------------------------- */

/* Names of the JVM's cannot end a line or a string. */
static void text_and_json(void **state)
{
    struct bbf_buf out = BBF_BUF_INIT;
    (void)state;
    with_agent();
    free(jvm.main_class);
    jvm.main_class = copy("com.x.\033[2JMain\"\n");
    add(&jvm.agent.notes, "a\nSTOPS b");
    judge();
    bbf_doctor_text(&out, &jvm, &findings, library.path);
    assert_string_equal(bbf_buf_cstr(&out),
                        "JVM 4711 (com.x.\\u001b[2JMain\"\\u000a), Java 17, bbflow " BBF_VERSION
                        ", 5 buffers followed\n"
                        "  LIMITS a\\u000aSTOPS b (the agent's status)\n"
                        "  for its next start:\n"
                        "    -agentpath:/opt/bbflow/libbbflow.so=include=com.x\n");
    out.len = 0;
    findings.copy = true;
    bbf_doctor_json(&out, &jvm, &findings, library.path);
    assert_string_equal(
        bbf_buf_cstr(&out),
        "{\"pid\":4711,\"main\":\"com.x.\\u001b[2JMain\\\"\\n\",\"java\":17,\"agent\":"
        "\"" BBF_VERSION "\",\"found\":true,\"findings\":[\n"
        "{\"severity\":\"limits\",\"id\":\"note\",\"text\":\"a\\nSTOPS b\",\"where\":\"the agent's "
        "status\",\"remedy\":\"\"}],"
        "\"next\":\"-agentpath:/opt/bbflow/libbbflow.so=include=com.x\","
        "\"copy\":\"/opt/bbflow/libbbflow.so\"}");
    bbf_buf_free(&out);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_healthy_jvm_has_no_finding),
        TEST(a_jvm_without_the_agent),
        TEST(attach_is_forbidden_by_options),
        TEST(folders_that_an_attach_needs),
        TEST(a_library_that_cannot_be_loaded),
        TEST(the_jvm_itself),
        TEST(an_agent_that_does_not_answer),
        TEST(notes_of_the_agent),
        TEST(settings_and_limits),
        TEST(nettys),
        TEST(how_it_was_started),
        TEST(the_next_start_keeps_other_options),
        TEST(options_of_all_sources),
        TEST(a_status),
        TEST(entries_of_jars),
        TEST(a_file_that_is_no_jar_is_counted),
        TEST(elf_files),
        TEST(text_and_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
