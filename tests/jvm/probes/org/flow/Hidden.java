package org.flow;

/** Its field says nothing: only carriers=org.flow.Hidden:thing looks into it. */
public final class Hidden {
    private final Object thing;

    public Hidden(Object thing) {
        this.thing = thing;
    }

    public Object thing() {
        return thing;
    }
}
