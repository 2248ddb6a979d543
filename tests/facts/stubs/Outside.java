public class Outside {
    public Outside(io.netty.buffer.ByteBuf b) { }
    public boolean offer(io.netty.buffer.ByteBuf b) { return false; }
    public void peekAt(io.netty.buffer.ByteBuf b) { }
}
