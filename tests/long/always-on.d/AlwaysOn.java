import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.handler.codec.dns.DefaultDnsQuery;
import io.netty.handler.codec.dns.DefaultDnsQuestion;
import io.netty.handler.codec.dns.DnsOpCode;
import io.netty.handler.codec.dns.DnsRecordType;
import io.netty.handler.codec.dns.DnsSection;
import io.netty.handler.codec.dns.TcpDnsQueryDecoder;
import io.netty.handler.codec.dns.TcpDnsQueryEncoder;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.multipart.Attribute;
import io.netty.handler.codec.http.multipart.DefaultHttpDataFactory;
import io.netty.handler.codec.http.multipart.FileUpload;
import io.netty.handler.codec.http.multipart.HttpDataFactory;
import io.netty.handler.codec.http.multipart.HttpPostRequestDecoder;
import io.netty.handler.codec.http.multipart.InterfaceHttpData;
import io.netty.util.ReferenceCountUtil;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * AlwaysOn NAME EVERY: messages through a decoder at full rate until the input ends. One message in EVERY is
 * of the kind that an old Netty loses a buffer of (it releases everything in the fixed one); the
 * others are of a kind that never was lost.
 */
public final class AlwaysOn {
    private static final String BOUNDARY = "xx";

    private AlwaysOn() {
    }

    private interface Case {
        void message(boolean risky);
    }

    private static ByteBuf direct(byte[] bytes) {
        return PooledByteBufAllocator.DEFAULT.directBuffer(bytes.length).writeBytes(bytes);
    }

    private static ByteBuf direct(String text) {
        return direct(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    // ---- netty#11618: HttpData.addContent throws beyond its limit and keeps the content ----

    private static final class Upload extends SimpleChannelInboundHandler<HttpObject> {
        private final HttpDataFactory factory;
        private Attribute attribute;

        Upload(HttpDataFactory factory) {
            this.factory = factory;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, HttpObject message) {
            if (message instanceof HttpRequest) {
                attribute = factory.createAttribute((HttpRequest) message, "body");
                return;
            }
            ByteBuf content = ((HttpContent) message).content();
            try {
                attribute.addContent(content.retain(), message instanceof LastHttpContent);
                if (message instanceof LastHttpContent) {
                    attribute.release();
                }
            } catch (IOException tooLarge) {
                attribute.delete();
                attribute.release();
                ctx.close();
            }
        }
    }

    private static void memoryData(boolean risky) {
        DefaultHttpDataFactory factory = new DefaultHttpDataFactory(false);
        factory.setMaxLimit(64);
        EmbeddedChannel channel = new EmbeddedChannel(new Upload(factory));
        channel.writeInbound(new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, "/up"));
        channel.writeInbound(new DefaultHttpContent(direct(new byte[40])));
        channel.writeInbound(risky ? new DefaultHttpContent(direct(new byte[40]))
                : new io.netty.handler.codec.http.DefaultLastHttpContent(direct(new byte[8])));
        channel.finishAndReleaseAll();
    }

    // ---- netty#15033: TcpDnsQueryDecoder keeps the frame of the decoder above it ----

    private static void dnsQuery(boolean risky) {
        if (!risky) {
            EmbeddedChannel frames = new EmbeddedChannel(new LengthFieldBasedFrameDecoder(1024, 0, 2, 0, 2));
            frames.writeInbound(direct(new byte[] {0, 4, 1, 2, 3, 4}));
            ReferenceCountUtil.release(frames.readInbound());
            frames.finishAndReleaseAll();
            return;
        }
        EmbeddedChannel encoder = new EmbeddedChannel(new TcpDnsQueryEncoder());
        encoder.writeOutbound(new DefaultDnsQuery(4242, DnsOpCode.QUERY).setRecord(DnsSection.QUESTION,
                new DefaultDnsQuestion("www.example.com", DnsRecordType.A)));
        EmbeddedChannel decoder = new EmbeddedChannel(new TcpDnsQueryDecoder());
        ByteBuf wire = encoder.readOutbound();
        ByteBuf copy = PooledByteBufAllocator.DEFAULT.directBuffer().writeBytes(wire);
        wire.release();
        decoder.writeInbound(copy);
        ReferenceCountUtil.release(decoder.readInbound());
        encoder.finishAndReleaseAll();
        decoder.finishAndReleaseAll();
    }

    // ---- netty#10227: the multipart decoder's readLine keeps an unpooled heap buffer ----

    private static final class Form extends SimpleChannelInboundHandler<FullHttpRequest> {
        private final boolean risky;

        Form(boolean risky) {
            this.risky = risky;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, FullHttpRequest request) throws Exception {
            if (!risky) {
                return;
            }
            HttpPostRequestDecoder decoder = new HttpPostRequestDecoder(new DefaultHttpDataFactory(false), request);
            try {
                for (InterfaceHttpData part : decoder.getBodyHttpDatas()) {
                    if (part instanceof FileUpload) {
                        ((FileUpload) part).getString();
                    }
                    if (part.refCnt() > 0) {
                        part.release();
                    }
                }
            } finally {
                decoder.destroy();
            }
        }
    }

    private static void multipart(boolean risky) {
        String body = "--" + BOUNDARY + "\r\nContent-Disposition: form-data; name=\"k\"; filename=\"k.txt\"\r\n"
                + "Content-Type: text/plain\r\n\r\nsome value\r\n--" + BOUNDARY + "--\r\n";
        EmbeddedChannel channel = new EmbeddedChannel(new HttpRequestDecoder(), new HttpObjectAggregator(65536),
                new Form(risky));
        channel.writeInbound(direct("POST /f HTTP/1.1\r\nHost: h\r\nContent-Type: multipart/form-data; boundary="
                + BOUNDARY + "\r\nContent-Length: " + body.length() + "\r\n\r\n" + body));
        channel.finishAndReleaseAll();
    }

    private static Case named(String name) {
        switch (name) {
        case "memory-data":
            return AlwaysOn::memoryData;
        case "dns-query":
            return AlwaysOn::dnsQuery;
        case "multipart":
            return AlwaysOn::multipart;
        default:
            throw new IllegalArgumentException(name);
        }
    }

    public static void main(String[] args) throws Exception {
        Case chosen = named(args[0]);
        int every = Integer.parseInt(args[1]);
        boolean[] ended = {false};
        Thread work = new Thread(() -> {
            for (long i = 1;; i++) {
                chosen.message(i % every == 0);
                if (i % 1024 == 0) {
                    synchronized (ended) {
                        if (ended[0]) {
                            System.out.println("MESSAGES " + i);
                            return;
                        }
                    }
                }
            }
        }, "messages");
        work.start();
        System.out.println("READY");
        while (System.in.read() >= 0) {
            continue;
        }
        synchronized (ended) {
            ended[0] = true;
        }
        work.join();
    }
}
