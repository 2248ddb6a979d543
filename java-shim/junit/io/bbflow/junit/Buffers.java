/* SPDX-License-Identifier: Apache-2.0 */
package io.bbflow.junit;

/**
 * How many buffers are open, for fuzzers and the like: a count, without a garbage collection. It
 * costs a look at each buffer that is open in the JVM. Any thread.
 */
public final class Buffers {
    private Buffers() {
    }

    /** A count of its own: of the buffers that are opened by this thread, and for these. */
    public static final class Count implements AutoCloseable {
        private final Agent agent;
        private final Scope scope;

        private Count(Agent agent) {
            this.agent = agent;
            scope = agent == null ? null : new Scope(agent, "count");
        }

        /** How many of them are open now; -1 without the agent. */
        public long openBuffers() {
            return agent == null ? -1 : agent.open(scope.number);
        }

        /** This thread counts no more here; its buffers stay counted. */
        @Override
        public void close() {
            if (scope != null)
                scope.leave();
        }
    }

    /** Begin to count in this thread: for one input of a fuzzer, with try. */
    public static Count count() {
        return new Count(Scopes.agent(false));
    }
}
