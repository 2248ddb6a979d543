package io.netty.util;
public class ReferenceCountUtil { public static boolean release(Object o) { return false; } }
