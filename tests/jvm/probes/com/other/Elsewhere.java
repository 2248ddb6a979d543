package com.other;

import io.netty.channel.embedded.EmbeddedChannel;

/** A library that is not followed: Netty allocates for it, in a thread of its own. */
public final class Elsewhere extends Thread {
    private final EmbeddedChannel channel;
    private final int times;

    public Elsewhere(EmbeddedChannel channel, int times) {
        this.channel = channel;
        this.times = times;
    }

    @Override
    public void run() {
        for (int i = 0; i < times; i++) {
            channel.writeOutbound("elsewhere " + i);
            channel.outboundMessages().poll();
        }
    }
}
