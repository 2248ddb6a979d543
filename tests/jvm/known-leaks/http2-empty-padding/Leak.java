import io.netty.buffer.*;
import io.netty.channel.*;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.*;

/** netty PR #11633: DefaultHttp2FrameWriter.writeData drops the buffer of an empty DATA frame that has padding.
 *  The frame writer alone: a whole connection of these versions has the leak of http2-headers-encoder, too. */
public class Leak {
    public static void main(String[] a) throws Throwable {
        Harness.main("http2-empty-padding", 40, new Harness.Body() { public void run(int i) {
            Sender sender = new Sender();
            EmbeddedChannel ch = new EmbeddedChannel(sender);
            for (int k = 0; k < 3; k++) {
                sender.send("body", 2); // a full frame with padding
                sender.send("", 0); // an empty one without
            }
            sender.send("", 2); // the lost one
            ch.finishAndReleaseAll();
        }});
    }
    static final class Sender extends ChannelHandlerAdapter {
        private final Http2FrameWriter writer = new DefaultHttp2FrameWriter(new NoHeaders());
        private ChannelHandlerContext ctx;
        @Override public void handlerAdded(ChannelHandlerContext c) { ctx = c; }
        void send(String body, int padding) {
            writer.writeData(ctx, 1, Harness.direct(body), padding, true, ctx.newPromise());
            ctx.flush();
        }
    }
    static final class NoHeaders implements Http2HeadersEncoder {
        @Override public void encodeHeaders(int stream, Http2Headers headers, ByteBuf out) { throw new AssertionError(); }
        @Override public Configuration configuration() { throw new AssertionError(); }
    }
}
