package io.netty.buffer;
public abstract class ByteBuf implements io.netty.util.ReferenceCounted {
    public abstract int readInt();
    public abstract ByteBuf slice();
    public abstract ByteBuf copy();
    public abstract ByteBuf retainedSlice();
    public abstract ByteBuf retain();
    public abstract ByteBuf writeBytes(ByteBuf from);
}
