/* SPDX-License-Identifier: Apache-2.0 */
package io.bbflow.junit;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** What the three test frameworks share: the agent, the names of tests, and what is found later. */
final class Scopes {
    /** Names that are kept: of later ones a message has the number. */
    private static final int MOST_NAMES = 100_000;

    private static final AtomicBoolean noted = new AtomicBoolean();
    private static final Map<Integer, String> names = new ConcurrentHashMap<>();
    private static final AtomicInteger n_names = new AtomicInteger();
    private static volatile Agent agent;
    private static volatile String refused;

    private Scopes() {
    }

    /** Null: the JVM has no agent, which a note said once. required: that is an error. */
    static Agent agent(boolean required) {
        Agent found = start();
        if (found == null) {
            String text = refused != null ? "bbflow: tests are not checked for buffer leaks: " + refused.trim()
                    : "bbflow: no agent in this JVM, so tests are not checked for buffer leaks; start it with "
                            + "-agentpath:/path/to/libbbflow.so (Maven: argLine, Gradle: jvmArgs)";
            if (required || Boolean.getBoolean("bbflow.required"))
                throw new IllegalStateException(text);
            if (noted.compareAndSet(false, true))
                System.err.println(text);
        }
        return found;
    }

    /** The agent may be attached later, be stopped, or its scopes=on be taken back: it is asked each time. */
    private static synchronized Agent start() {
        if (agent == null)
            agent = Agent.find();
        refused = agent == null ? null : agent.start();
        return refused == null ? agent : null;
    }

    static void named(Scope scope, String name) {
        scope.name = name;
        if (names.containsKey(scope.number) || n_names.incrementAndGet() <= MOST_NAMES)
            names.put(scope.number, name);
    }

    private static String nameOf(int number) {
        String name = names.get(number);
        return name != null ? name : "test " + number;
    }

    /** Tests that ended while some of their buffers were open. */
    static final class Waiting {
        private final Collection<Scope> tests = new ConcurrentLinkedQueue<>();

        void add(Scope test) {
            tests.add(test);
        }

        /** What they lost since, by name; the rest goes on to wait in `next` (null: nowhere). */
        List<String> settle(Agent agent, Waiting next) {
            List<String> texts = new ArrayList<>();
            boolean collected = false;
            for (Iterator<Scope> i = tests.iterator(); i.hasNext(); i.remove()) {
                Scope test = i.next();
                if (!collected && test.isOpen()) {
                    agent.report(test.number, true); // one collection for all
                    collected = true;
                }
                String text = test.later();
                if (text != null)
                    texts.add("found after the test: " + text);
                if (next != null && test.isOpen())
                    next.add(test);
            }
            return texts;
        }
    }

    /** What no test can be blamed for; null: nothing was lost. */
    static String unattributed(Agent agent, int number, String where) {
        String report = agent.lost(number) == 0 ? null : agent.report(number, false);
        if (report == null)
            return null;
        int end = report.indexOf('\n');
        StringBuilder text = new StringBuilder(where);
        text.append(" leaked ").append(Text.buffers(Long.parseLong(report.substring(0, end))));
        text.append(" that no single test is known to have opened").append(hints(agent, number)).append('\n');
        return text.append(report, end + 1, report.length()).toString();
    }

    /** "; opened while only these ran: OrderTest.add (2), OrderTest.pay" */
    private static String hints(Agent agent, int number) {
        Map<Integer, Long> alone = new LinkedHashMap<>();
        long[] pairs = agent.during(number);
        for (int i = 0; pairs != null && i + 1 < pairs.length; i += 2)
            if (pairs[i] != 0)
                alone.merge((int) pairs[i], pairs[i + 1], Long::sum);
        if (alone.isEmpty())
            return "";
        StringBuilder text = new StringBuilder("; opened while this test ran alone: ");
        int n = 0;
        for (Map.Entry<Integer, Long> entry : alone.entrySet()) {
            if (n++ == 10)
                return text.append(", and ").append(alone.size() - 10).append(" more").toString();
            text.append(n > 1 ? ", " : "").append(nameOf(entry.getKey()));
            text.append(" (").append(entry.getValue()).append(')');
        }
        return text.toString();
    }

    /** Throws if there is one. */
    static void fail(Agent agent, List<String> texts) {
        if (texts.isEmpty())
            return;
        String note = agent.note();
        String all = String.join("\n", texts);
        throw new BufferLeakError(note == null ? all : all + "\nnot everything was seen: " + note);
    }
}
