import io.netty.channel.*;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.haproxy.*;
import io.netty.util.ReferenceCountUtil;

/** netty #9201 / PR #9250: HAProxyMessage holds retained slices of the header (its TLVs), but is not reference
 *  counted: who gets the message and does what one does with messages, ReferenceCountUtil.release, releases nothing. */
public class Leak {
    /** PROXY TCP4 127.0.0.1:51622 127.0.0.1:1881, version 2; the second one with an SSL TLV that holds two others. */
    static final byte[] PLAIN = {13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10, 33, 17, 0, 12, 127, 0, 0, 1, 127, 0, 0, 1,
        -55, -90, 7, 89};
    static final byte[] TLS = {13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10, 33, 17, 0, 35, 127, 0, 0, 1, 127, 0, 0, 1,
        -55, -90, 7, 89, 32, 0, 20, 5, 0, 0, 0, 0, 33, 0, 5, 84, 76, 83, 118, 49, 34, 0, 4, 76, 69, 65, 70};

    public static void main(String[] a) throws Throwable {
        Harness.main("haproxy-tlvs", 40, new Harness.Body() { public void run(int i) {
            for (byte[] header : new byte[][] {PLAIN, PLAIN, PLAIN, TLS}) {
                EmbeddedChannel ch = new EmbeddedChannel(new HAProxyMessageDecoder(), new ProxyHandler());
                ch.writeInbound(Harness.direct(header));
                ch.finishAndReleaseAll();
            }
        }});
    }
    static final class ProxyHandler extends ChannelInboundHandlerAdapter {
        @Override public void channelRead(ChannelHandlerContext ctx, Object msg) {
            HAProxyMessage m = (HAProxyMessage) msg;
            if (m.sourcePort() != 51622) throw new AssertionError(m.toString());
            ReferenceCountUtil.release(msg);
            for (HAProxyTLV tlv : m.tlvs()) { // all three are slices of the one header
                if (tlv.refCnt() > 0) Harness.unreleased++;
                break;
            }
        }
    }
}
