package com.seed;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;

import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The flows that the Java tracker's integration and unit tests are about, restated: each command is
 * one of its example programs, and says in ORACLE what it did. tests/jvm/seed.py says which of
 * its tests each one stands for. Usage: Apps COMMAND.
 */
public final class Apps {
    interface Command {
        void run() throws Exception;
    }

    private static final UnpooledByteBufAllocator PLAIN = UnpooledByteBufAllocator.DEFAULT;
    private static final Map<String, Command> COMMANDS = new LinkedHashMap<>();

    static {
        COMMANDS.put("basic", Flows::basic);
        COMMANDS.put("leaky", Flows::leaky);
        COMMANDS.put("directleaks", Flows::directLeaks);
        COMMANDS.put("statics", Flows::statics);
        COMMANDS.put("wrapper", Wrapping::run);
        COMMANDS.put("retains", Counts::retains);
        COMMANDS.put("anomalies", Counts::anomalies);
        COMMANDS.put("releases", Counts::releases);
        COMMANDS.put("thousand", Flows::thousand);
        COMMANDS.put("filtering", Filtering::run);
        COMMANDS.put("metrics", Apps::metrics);
        COMMANDS.put("roots", Apps::roots);
        COMMANDS.put("directonly", Apps::directOnly);
    }

    private Apps() {
    }

    public static void main(String[] args) throws Exception {
        COMMANDS.get(args[0]).run();
    }

    /** Three direct buffers and two of the heap are lost; then the test looks. */
    private static void metrics() throws Exception {
        Lost lost = new Lost();
        for (int i = 0; i < 3; i++) {
            lost.forget(Flows.touch(PLAIN.directBuffer(64)));
        }
        for (int i = 0; i < 2; i++) {
            lost.forget(Flows.touch(PLAIN.heapBuffer(32)));
        }
        lost.say(5, 0);
        System.in.read();
    }

    /** One root for each allocator and kind of memory, however the call is spelled. */
    private static void roots() throws Exception {
        PooledByteBufAllocator pool = PooledByteBufAllocator.DEFAULT;
        int n = 0;
        for (ByteBuf b : new ByteBuf[] {
            PLAIN.heapBuffer(), PLAIN.heapBuffer(8), PLAIN.heapBuffer(8, 16), Unpooled.buffer(),
            Unpooled.buffer(8), Unpooled.copiedBuffer(new byte[8]), Unpooled.copyInt(1), // 7
            PLAIN.directBuffer(), PLAIN.directBuffer(8), PLAIN.ioBuffer(8),
            Unpooled.directBuffer(8), // 4
            pool.buffer(8), pool.directBuffer(8), pool.ioBuffer(8), // 3
            pool.heapBuffer(8), // 1
            Unpooled.wrappedBuffer(ByteBuffer.allocateDirect(8)),
            Unpooled.wrappedBuffer(new byte[4]), // 2
            Unpooled.compositeBuffer(), PLAIN.compositeBuffer(), pool.compositeBuffer(8), // 1 each
        }) {
            b.release();
            n++;
        }
        Oracle.say("lives", n, "released", n, "leaked", 0);
    }

    /** Of each kind two, one of which is lost: under trackDirectOnly the heap's are not there. */
    private static void directOnly() throws Exception {
        Lost lost = new Lost();
        for (int i = 0; i < 2; i++) {
            end(lost, i, PLAIN.heapBuffer(10));
            end(lost, i, PLAIN.directBuffer(20));
            end(lost, i, Unpooled.wrappedBuffer(ByteBuffer.allocateDirect(30)));
            end(lost, i, Unpooled.wrappedBuffer(new byte[40]));
            // Of one buffer wrappedBuffer() makes a view: no life of its own, whatever the depth.
            end(lost, i, Unpooled.wrappedBuffer(Unpooled.wrappedBuffer(PLAIN.directBuffer(50)
                    .writeByte(1))));
            end(lost, i, Unpooled.wrappedBuffer(Unpooled.wrappedBuffer(PLAIN.heapBuffer(60)
                    .writeByte(1))));
        }
        Oracle.say("forgotten", 6, "collected", lost.settle());
    }

    private static void end(Lost lost, int i, ByteBuf b) {
        if (i == 0) {
            lost.forget(b);
        } else {
            b.release();
        }
    }
}
