package com.example.leaky;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;

/** Keeps audit lines until eight are together, then "writes" them in one go. */
final class AuditLog {
    private final int capacity;
    private final ArrayDeque<ByteBuf> pending = new ArrayDeque<>();
    private long lines;

    AuditLog(int capacity) {
        this.capacity = capacity;
    }

    synchronized void append(String text) {
        offer(line(text));
        if (++lines % 10 == 0) {
            flush();
        }
    }

    private ByteBuf line(String text) {
        return Unpooled.buffer(128).writeBytes((text + "\n").getBytes(StandardCharsets.UTF_8));
    }

    /** The other leak: a full queue drops the line, and no code releases it. */
    private void offer(ByteBuf line) {
        if (pending.size() < capacity) {
            pending.add(line);
        }
    }

    private void flush() {
        for (ByteBuf line; (line = pending.poll()) != null;) {
            line.release();
        }
    }
}
