package org.flow;

/** What users of this framework see: no class of Netty is named here. */
public interface Frame {
    int size();
}
