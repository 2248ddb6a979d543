package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/** Chunks are filled with large buffers and, in each, one small one; only the small ones stay, or none. */
public final class Pins {
    private static final int LARGE = 64 << 10; // more than a thread cache keeps
    private static final int LARGE_ADAPTIVE = 1024; // an adaptive chunk has buffers of one size class
    private static final int MANY = 50_000;

    private Pins() {
    }

    /** pooled|adaptive, direct|heap, keep|nothing, and how many chunks. */
    public static void main(String[] args) throws Exception {
        boolean adaptive = "adaptive".equals(args[0]);
        boolean direct = "direct".equals(args[1]);
        ByteBufAllocator alloc = adaptive ? ByteBufAllocator.DEFAULT : PooledByteBufAllocator.DEFAULT;
        Keeper keeper = new Keeper();
        List<ByteBuf> filling = new ArrayList<>();
        Map<Object, Boolean> seen = new IdentityHashMap<>();
        int large = adaptive ? LARGE_ADAPTIVE : LARGE;
        int wanted = Integer.parseInt(args[3]);
        long reserved = 0;
        long bytes = 0;
        for (int i = 0; i < MANY && seen.size() < wanted; i++) {
            filling.add(direct ? alloc.directBuffer(large) : alloc.heapBuffer(large));
            int size = (adaptive ? 840 : 40) + seen.size() % 5 * 40;
            ByteBuf small = direct ? alloc.directBuffer(size) : alloc.heapBuffer(size);
            Object chunk = Fields.read(own(small), "chunk");
            boolean isFirst = seen.put(chunk, true) == null;
            if (isFirst && "keep".equals(args[2])) {
                keeper.keep(small);
                reserved += ((Number) Fields.read(chunk, adaptive ? "capacity" : "chunkSize")).longValue();
                bytes += size;
            } else {
                filling.add(small);
            }
        }
        filling.forEach(ByteBuf::release);
        Oracle.say("chunks", keeper.size(), "reserved", reserved, "bytes", bytes);
        System.out.println("READY");
        System.in.read();
    }

    /** Without the wrapper of Netty's leak detector. */
    private static ByteBuf own(ByteBuf buffer) {
        return buffer.getClass().getSimpleName().contains("LeakAware") ? buffer.unwrap() : buffer;
    }

    private static final class Keeper {
        private final ArrayDeque<ByteBuf> kept = new ArrayDeque<>();

        void keep(ByteBuf buffer) {
            kept.add(buffer);
        }

        int size() {
            return kept.size();
        }
    }

    /** Netty's private fields, of whatever class of the super chain. */
    private static final class Fields {
        private Fields() {
        }

        static Object read(Object o, String name) throws ReflectiveOperationException {
            for (Class<?> c = o.getClass(); c != null; c = c.getSuperclass()) {
                for (java.lang.reflect.Field f : c.getDeclaredFields()) {
                    if (f.getName().equals(name)) {
                        f.setAccessible(true);
                        return f.get(o);
                    }
                }
            }
            throw new NoSuchFieldException(name);
        }
    }
}
