package org.flow;

/** Between the interface that users declare and the class that has the buffer. */
public interface Part extends Frame {
}
