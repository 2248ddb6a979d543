package io.netty.buffer;
public interface ByteBufHolder extends io.netty.util.ReferenceCounted { ByteBuf content(); }
