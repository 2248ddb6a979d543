package com.proof;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;

import java.lang.ref.WeakReference;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;

/** The load of a soak, apart from Soak, so that nothing of Netty is loaded before it starts. */
final class Load {
    static final AtomicLong LIVES = new AtomicLong(), REQUESTS = new AtomicLong();
    private static final ArrayBlockingQueue<ByteBuf> HANDED = new ArrayBlockingQueue<>(1_000);
    private static final byte[] REQUEST = ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 64\r\n\r\n"
            + "0123456789abcdef".repeat(4)).getBytes(java.nio.charset.StandardCharsets.US_ASCII);
    private static final List<Thread> RUNNING = new ArrayList<>();
    private static volatile boolean resting;

    private Load() {
    }

    /** Threads that live for a second, one after the other. */
    static void go() {
        resting = false;
        for (Runnable work : new Runnable[] {Load::buffers, Load::buffers, Load::requests}) {
            Thread t = new Thread(() -> inTurns(work));
            t.setDaemon(true);
            t.start();
            RUNNING.add(t);
        }
    }

    /** No thread of the load runs and all that it allocated is released. */
    static void rest() throws InterruptedException {
        resting = true;
        for (Thread t : RUNNING) {
            t.join();
        }
        RUNNING.clear();
        for (ByteBuf b; (b = HANDED.poll()) != null;) {
            done(b);
        }
    }

    private static void inTurns(Runnable work) {
        try {
            while (!resting) {
                Thread turn = new Thread(work);
                turn.setDaemon(true);
                turn.start();
                turn.join();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static boolean goesOn(long end) {
        return !resting && System.nanoTime() < end;
    }

    /** Each kind of buffer; some held, some handed over, some sliced. */
    private static void buffers() {
        ArrayDeque<ByteBuf> held = new ArrayDeque<>();
        long end = System.nanoTime() + 1_000_000_000L, lives = 0;
        for (int n = 0; goesOn(end); n++) {
            ByteBuf b = allocate(n);
            lives++;
            step(b);
            if (n % 16 == 3) {
                held.add(b);
            } else if (n % 16 == 7 && HANDED.offer(b)) {
                ByteBuf other = HANDED.poll();
                if (other != null) {
                    done(other);
                }
            } else if (n % 16 == 9) {
                ByteBuf slice = b.retainedSlice(0, 8);
                lives += n % 5 < 2 ? 1 : 0; // of a pooled buffer it has a count of its own
                done(b);
                done(slice);
            } else {
                done(b);
            }
            if (held.size() > 500) {
                done(held.poll());
            }
        }
        held.forEach(Load::done);
        LIVES.addAndGet(lives);
    }

    private static ByteBuf allocate(int n) {
        switch (n % 5) {
        case 0:
            return PooledByteBufAllocator.DEFAULT.directBuffer(64);
        case 1:
            return PooledByteBufAllocator.DEFAULT.heapBuffer(64);
        case 2:
            return UnpooledByteBufAllocator.DEFAULT.directBuffer(16);
        default:
            return UnpooledByteBufAllocator.DEFAULT.heapBuffer(16);
        }
    }

    /** A server's pipeline, request after request; its channel lives as long as the thread. */
    private static void requests() {
        EmbeddedChannel channel = new EmbeddedChannel(new HttpServerCodec(),
                new HttpObjectAggregator(1 << 16), new Echo());
        channel.config().setAllocator(PooledByteBufAllocator.DEFAULT);
        long end = System.nanoTime() + 1_000_000_000L, requests = 0;
        for (; goesOn(end); requests++) {
            channel.writeInbound(channel.alloc().directBuffer(256).writeBytes(REQUEST));
            for (ByteBuf answer; (answer = channel.readOutbound()) != null;) {
                done(answer);
            }
        }
        channel.finishAndReleaseAll();
        LIVES.incrementAndGet(); // the decoder's own scratch buffer
        REQUESTS.addAndGet(requests);
    }

    private static final class Echo extends SimpleChannelInboundHandler<FullHttpRequest> {
        @Override
        protected void channelRead0(ChannelHandlerContext ctx, FullHttpRequest request) {
            DefaultFullHttpResponse answer = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1,
                    HttpResponseStatus.OK, ctx.alloc().directBuffer(64).writeBytes(request.content()));
            answer.headers().set("content-length", 64);
            ctx.writeAndFlush(answer);
        }
    }

    static void exact(int n) {
        for (int i = 0; i < n; i++) {
            counted(PooledByteBufAllocator.DEFAULT.directBuffer(32));
        }
        LIVES.addAndGet(n);
    }

    private static void counted(ByteBuf b) {
        done(b);
    }

    static int lose(int n) throws InterruptedException {
        List<WeakReference<ByteBuf>> lost = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            forget(lost);
        }
        LIVES.addAndGet(n);
        for (int i = 0; i < 300 && !lost.isEmpty(); i++) {
            System.gc();
            lost.removeIf(r -> r.get() == null);
            Thread.sleep(10);
        }
        return n - lost.size();
    }

    private static void forget(List<WeakReference<ByteBuf>> lost) {
        ByteBuf b = Unpooled.buffer(48);
        lost.add(new WeakReference<>(b));
        step(b);
    }

    static void step(ByteBuf b) {
        b.writerIndex(8);
    }

    static void done(ByteBuf b) {
        b.release();
    }
}

/**
 * Soak FILE: buffers and requests at full rate, and what stdin asks for, line by line: `go`, `rest`
 * (nothing runs and nothing is open; what was allocated so far is written to FILE), `exact N` (one
 * thread, N lives through one method), `lose N`, `end`. Each answers with a line that does not
 * depend on time, so that two runs that are asked the same print the same.
 */
public final class Soak {
    private Soak() {
    }

    public static void main(String[] args) throws Exception {
        java.io.BufferedReader in =
                new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
        System.out.println("READY");
        for (String line; (line = in.readLine()) != null && !line.equals("end");) {
            String[] words = line.split(" ");
            int n = words.length > 1 ? Integer.parseInt(words[1]) : 0;
            switch (words[0]) {
            case "go":
                Load.go();
                System.out.println("GOING");
                break;
            case "rest":
                Load.rest();
                java.nio.file.Files.write(java.nio.file.Paths.get(args[0]),
                        (Load.LIVES + " " + Load.REQUESTS).getBytes());
                System.out.println("RESTING");
                break;
            case "exact":
                Load.exact(n);
                System.out.println("EXACT " + n);
                break;
            default:
                System.out.println("LOST " + n + " COLLECTED " + Load.lose(n));
                break;
            }
        }
        System.out.println("END");
    }
}
