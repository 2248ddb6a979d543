package com.hand;

/** By META-INF/services. */
public final class Service extends Sum {
}
