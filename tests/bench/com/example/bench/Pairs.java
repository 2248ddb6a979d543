package com.example.bench;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.DefaultEventLoopGroup;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.local.LocalAddress;
import io.netty.channel.local.LocalChannel;
import io.netty.channel.local.LocalServerChannel;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Clients and servers in one JVM, joined by Netty's local channels: codecs and handlers at work
 * without the kernel's share. One event loop a thread, in it one connection, both its ends.
 * Operations in flight restart themselves until the work is stopped; then what is in flight ends.
 */
abstract class Pairs implements Workload {
    private static final int IN_FLIGHT = 16; // a connection

    private final List<EventLoopGroup> loops = new ArrayList<>();
    private final List<Channel> clients = new ArrayList<>();
    private final List<Pace> paces = new ArrayList<>();
    private final AtomicInteger flying = new AtomicInteger();

    @Override
    public final void run(int threads) throws Exception {
        for (int i = loops.size(); i < threads; i++) {
            EventLoopGroup loop = new DefaultEventLoopGroup(1);
            loops.add(loop);
            paces.add(new Pace());
            clients.add(connect(loop, i));
        }
        for (Channel client : clients) {
            for (int i = 0; i < IN_FLIGHT; i++) {
                flying.incrementAndGet();
                client.eventLoop().execute(() -> begin(client));
            }
        }
        synchronized (this) {
            while (flying.get() > 0) {
                wait();
            }
        }
    }

    private Channel connect(EventLoopGroup loop, int number) throws InterruptedException {
        LocalAddress address = new LocalAddress(getClass().getSimpleName() + number);
        new ServerBootstrap().group(loop).channel(LocalServerChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        server(channel);
                    }
                }).bind(address).sync();
        return new Bootstrap().group(loop).channel(LocalChannel.class)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        client(channel, number);
                    }
                }).connect(address).sync().channel();
    }

    /** To be called where an operation has ended, in its event loop. */
    final void ended(Channel client, int number) {
        Bench.done(number, 1);
        if (!Bench.stopped()) {
            next(client, paces.get(number).until(1));
        } else if (flying.decrementAndGet() == 0) {
            synchronized (this) {
                notifyAll();
            }
        }
    }

    /** As a task of its own: begun at once it would be inside the last one, and what Netty puts off would wait for ever. */
    private void next(Channel client, long wait) {
        if (wait == 0) {
            client.eventLoop().execute(() -> begin(client));
        } else {
            client.eventLoop().schedule(() -> begin(client), wait, TimeUnit.NANOSECONDS);
        }
    }

    final void failed(Throwable why) {
        why.printStackTrace();
        System.exit(1);
    }

    /** The handlers of a server's connection. */
    abstract void server(Channel channel);

    /** The handlers of a client's; number is what ended() wants. */
    abstract void client(Channel channel, int number);

    /** Begins one operation, in the connection's event loop. */
    abstract void begin(Channel client);
}
