import io.netty.channel.*;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.CorruptedFrameException;
import io.netty.handler.codec.http.websocketx.*;

/** netty PR #9909: Utf8FrameValidator throws at a text frame that is not UTF-8 and keeps the frame. */
public class Leak {
    public static void main(String[] a) throws Throwable {
        Harness.main("websocket-utf8-invalid", 40, new Harness.Body() { public void run(int i) {
            EmbeddedChannel ch = new EmbeddedChannel(new WebSocket13FrameDecoder(false, false, 65536),
                    new Utf8FrameValidator(), new Reader());
            for (int k = 0; k < 3; k++) {
                ch.writeInbound(Harness.direct(new byte[] {(byte) 0x81, 2, 'h', 'i'}));
            }
            try {
                ch.writeInbound(Harness.direct(new byte[] {(byte) 0x81, 2, (byte) 0xc3, 0x28}));
                throw new AssertionError("the frame was accepted");
            } catch (CorruptedFrameException notUtf8) {
                ch.finishAndReleaseAll();
            }
        }});
    }
    static final class Reader extends SimpleChannelInboundHandler<WebSocketFrame> {
        @Override protected void channelRead0(ChannelHandlerContext ctx, WebSocketFrame frame) {
            if (!"hi".equals(((TextWebSocketFrame) frame).text())) throw new AssertionError();
        }
    }
}
