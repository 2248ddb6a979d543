package io.netty.buffer;
public abstract class CompositeByteBuf extends ByteBuf { public abstract CompositeByteBuf addComponent(boolean increase, ByteBuf b); }
