package org.flow;

/** Its field is a Frame after erasure. */
public final class Box<T extends Frame> {
    private final T value;

    public Box(T value) {
        this.value = value;
    }

    public T value() {
        return value;
    }
}
