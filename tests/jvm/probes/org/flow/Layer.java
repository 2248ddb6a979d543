package org.flow;

/** A carrier in a carrier: it names no class of Netty. */
public final class Layer implements Frame {
    private final Frame inner;

    public Layer(Frame inner) {
        this.inner = inner;
    }

    @Override
    public int size() {
        return inner.size();
    }
}
