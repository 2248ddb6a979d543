package io.netty.buffer;
public class Unpooled { public static ByteBuf make() { return null; } }
