package com.hand;

/** By MetricHandlerRegistry.register(). */
public final class Registered extends Sum {
}
