import io.netty.buffer.*;
import io.netty.channel.*;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.*;

/** netty #13870 / PR #13872: DefaultHttp2HeadersEncoder allocates a buffer at the first SETTINGS frame of a connection
 *  that changes the size of the header table, and nobody releases it.
 *  UNPOOLED HEAP: ResourceLeakDetector never tracks those, so PARANOID prints nothing. */
public class Leak {
    /** SETTINGS_HEADER_TABLE_SIZE = 8192 (RFC 9113, 6.5) */
    static final byte[] SETTINGS = {0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 1, 0, 0, 32, 0};

    public static void main(String[] a) throws Throwable {
        Harness.main("http2-headers-encoder", 40, new Harness.Body() { public void run(int i) {
            Sender sender = new Sender();
            EmbeddedChannel ch = new EmbeddedChannel(Http2FrameCodecBuilder.forClient().build(), sender);
            ch.writeInbound(Harness.direct(SETTINGS));
            sender.post(Harness.direct("body"));
            sender.post(Unpooled.buffer(64).writeByte(1)); // heap buffers that are released
            ch.finishAndReleaseAll();
        }});
    }
    /** Sends each request on a stream of its own. */
    static final class Sender extends Http2ChannelDuplexHandler {
        private ChannelHandlerContext ctx;
        @Override protected void handlerAdded0(ChannelHandlerContext c) { ctx = c; }
        void post(ByteBuf body) {
            Http2FrameStream stream = newStream();
            Http2Headers headers = new DefaultHttp2Headers().method("POST").path("/").scheme("http").authority("h");
            ctx.write(new DefaultHttp2HeadersFrame(headers).stream(stream));
            ctx.writeAndFlush(new DefaultHttp2DataFrame(body, true).stream(stream));
        }
    }
}
