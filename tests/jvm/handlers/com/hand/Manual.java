package com.hand;

import com.example.bytebuf.tracker.ByteBufFlowTracker;
import com.example.bytebuf.tracker.ObjectTrackerHandler;
import com.example.bytebuf.tracker.ObjectTrackerRegistry;
import com.example.bytebuf.tracker.trie.BoundedImprintTrie;
import com.example.bytebuf.tracker.trie.ImprintNode;
import com.example.bytebuf.tracker.view.TrieRenderer;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;

import java.lang.ref.WeakReference;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;

/** The programmatic API as a user of the Java tracker calls it, with objects whose own methods must not be called. */
public final class Manual {
    private static final ByteBufFlowTracker TRACKER = ByteBufFlowTracker.getInstance();
    private static final int THREADS = 4, EACH = 2000;

    private Manual() {
    }

    /** Closed by a call of the API. */
    static final class Lease {
        @Override
        public boolean equals(Object o) {
            throw new IllegalStateException("equals");
        }

        @Override
        public int hashCode() {
            throw new IllegalStateException("hashCode");
        }

        @Override
        public String toString() {
            throw new IllegalStateException("toString");
        }
    }

    /** Closed by a method that bbflow hooks once the handler is registered. */
    public static class Connection implements AutoCloseable {
        boolean open = true;

        @Override
        public void close() {
            open = false;
        }
    }

    public static final class Pooled extends Connection {
    }

    static class ConnectionTracker implements ObjectTrackerHandler {
        @Override
        public boolean shouldTrack(Object obj) {
            throw new IllegalStateException("bbflow does not ask");
        }

        @Override
        public int getMetric(Object obj) {
            throw new IllegalStateException("bbflow does not ask");
        }

        @Override
        public String getObjectType() {
            return "com.hand.Manual$Connection";
        }
    }

    static final class Thrower extends ConnectionTracker {
        @Override
        public String getObjectType() {
            throw new IllegalStateException("in the handler");
        }
    }

    static final class Nonsense extends ConnectionTracker {
        @Override
        public String getObjectType() {
            return "no class + at:all";
        }
    }

    static void use(Connection connection) {
        connection.open &= true;
    }

    static void lose(Connection connection) {
        use(connection);
    }

    private static void leases(int closed, int lost) {
        for (int i = 0; i < closed + lost; i++) {
            Lease lease = new Lease();
            TRACKER.recordMethodCall(lease, "com.user.Pool", "take", 1);
            TRACKER.recordMethodCall(lease, "com.user.Work", "run", "com.user.Work.run", i % 2 == 0 ? 1 : 4);
            if (i < closed) {
                TRACKER.recordMethodCall(lease, "com.user.Pool", "giveBack", "com.user.Pool.giveBack", 0);
                TRACKER.recordMethodCall(lease, "com.user.Pool", "giveBack", 0); // it is over
            }
        }
    }

    private static void buffers() {
        for (int i = 0; i < 3; i++) {
            ByteBuf buffer = UnpooledByteBufAllocator.DEFAULT.heapBuffer(16);
            TRACKER.recordMethodCall(buffer, "com.user.Envelope", "<init>", buffer.refCnt());
            if (i > 0)
                buffer.release();
            TRACKER.recordMethodCall(buffer, "com.user.Envelope", "after", "x", 0);
        }
    }

    private static void connections() {
        for (int i = 0; i < 4; i++) {
            Connection connection = i % 2 == 0 ? new Connection() : new Pooled();
            use(connection);
            TRACKER.recordMethodCall(connection, "com.user.Sql", "query", 1);
            if (i == 0)
                lose(connection);
            else
                connection.close();
        }
    }

    private static void hostile() {
        TRACKER.recordMethodCall(null, "A", "b", 1);
        TRACKER.recordMethodCall(new Lease(), null, "b", 1);
        TRACKER.recordMethodCall(new Lease(), "A", null, "s", 1);
        TRACKER.recordMethodCall(new Lease(), "A", "neverOpen", 0);
        TRACKER.recordMethodCall(new Lease(), "A", "negative", -1);
        try {
            ObjectTrackerRegistry.setHandler(new Thrower());
            System.out.println("WRONG: it threw");
        } catch (IllegalStateException e) {
            System.out.println("REFUSED " + e.getMessage());
        }
    }

    private static void threads() throws InterruptedException {
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Thread thread = new Thread(() -> {
                Queue<Lease> open = new ArrayDeque<>();
                for (int n = 0; n < EACH; n++) {
                    Lease lease = new Lease();
                    TRACKER.recordMethodCall(lease, "com.user.Many", "take", 1);
                    open.add(lease);
                    if (open.size() > 10)
                        TRACKER.recordMethodCall(open.remove(), "com.user.Many", "done", 0);
                }
                for (Lease lease : open)
                    TRACKER.recordMethodCall(lease, "com.user.Many", "done", 0);
            });
            thread.start();
            all.add(thread);
        }
        for (Thread thread : all)
            thread.join();
    }

    /** bbflow comes, goes and comes again; a byte for each round. */
    private static void rounds() throws Exception {
        ObjectTrackerRegistry.setHandler(new ConnectionTracker());
        System.out.println("READY");
        for (int c = System.in.read(); c >= 0; c = System.in.read()) {
            if (c == 'u') {
                System.out.println("UNLOADED " + isUnloaded());
                continue;
            }
            if (c == 'n') {
                ObjectTrackerRegistry.setHandler(new Nonsense());
                System.out.println("HANDLERS " + ObjectTrackerRegistry.getCustomHandlers().size());
                continue;
            }
            leases(1, 1);
            for (int i = 0; i < 2; i++) {
                Connection connection = new Connection();
                use(connection);
                if (i > 0)
                    connection.close();
            }
            System.out.println("MADE " + TRACKER.getTrackingStats());
        }
    }

    /** In the other loader, called by reflection: a copy of the API, an object of that loader, a handler. */
    public static void other() {
        ObjectTrackerRegistry.setHandler(new ConnectionTracker());
        TRACKER.recordMethodCall(new Lease(), "com.user.Other", "lose", 1);
    }

    private static boolean isUnloaded() throws Exception {
        WeakReference<ClassLoader> other = Main.inOtherLoader("com.hand.Manual", "other");
        return Main.until(() -> other.get() == null);
    }

    private static void print(String prefix, ImprintNode node) {
        System.out.println("NODE " + prefix + node.getMethodSignature() + "[" + node.getRefCount() + "] "
                + node.getTraversalCount() + " " + node.getCleanCount() + " " + node.getLeakCount());
        for (ImprintNode child : node.getChildren().values())
            print(prefix + node.getMethodName() + " > ", child);
    }

    public static void main(String[] args) throws Exception {
        if (args.length > 0) {
            rounds();
            return;
        }
        TrieRenderer renderer = new TrieRenderer(TRACKER.getTrie());
        if (!Main.until(() -> ObjectTrackerRegistry.getCustomHandlers().size() == 1))
            System.out.println("WRONG: -Dobject.tracker.handlers");
        Files.two();
        leases(3, 2);
        buffers();
        hostile();
        ObjectTrackerRegistry.setHandler(new ConnectionTracker());
        connections();
        WeakReference<Object> gone = new WeakReference<>(new Object());
        Main.until(() -> gone.get() == null);
        boolean all = Main.until(() -> {
            TRACKER.ensureGCProcessed();
            return TRACKER.getActiveFlowCount() == 0;
        });
        System.out.println("STATS " + all + " " + TRACKER.getTrackingStats());
        BoundedImprintTrie trie = TRACKER.getTrie();
        System.out.println("TRIE " + trie.getRootCount() + " " + (trie.getNodeCount() > 5) + " " + trie.getMaxNodes() + " "
                + trie.getMaxDepth() + " " + new java.util.TreeSet<>(trie.getRoots().keySet()));
        for (Map.Entry<String, ImprintNode> root : trie.getRoots().entrySet())
            if (root.getKey().startsWith("com.user"))
                print("", root.getValue());
        System.out.println("TREE " + renderer.renderIndentedTree().contains("ROOT: Pool.take ") + " "
                + renderer.renderForLLM().contains("Pool.take") + " " + renderer.renderSummary().contains("Total Root Methods:")
                + " " + (renderer.renderIndentedTree() + renderer.renderSummary()).contains("AFTER RELEASE"));
        System.out.println("HANDLERS " + ObjectTrackerRegistry.getCustomHandlers().size() + " "
                + ObjectTrackerRegistry.getHandler().getObjectType());
        TRACKER.reset();
        System.out.println("RESET " + TRACKER.getActiveFlowCount() + " " + trie.getRootCount() + " " + TRACKER.getTrackingStats());
        threads();
        TRACKER.onShutdown();
        System.out.println("MANY " + TRACKER.getTrackingStats());
    }
}
