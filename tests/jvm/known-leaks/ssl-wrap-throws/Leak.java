import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.ssl.SslHandler;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;

/** netty #14644 / PR #14647: SslHandler.wrap has taken the buffer out of its queue when SSLEngine.wrap throws, and
 *  nobody releases it. A server that speaks first; every fourth has no cipher suite for its only protocol. */
public class Leak {
    public static void main(String[] a) throws Throwable {
        final SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, null, null);
        Harness.main("ssl-wrap-throws", 40, new Harness.Body() { public void run(int i) {
            for (int k = 0; k < 4; k++) greet(context.createSSLEngine(), k == 3);
        }});
    }

    static void greet(SSLEngine engine, boolean misconfigured) {
        engine.setUseClientMode(false);
        if (misconfigured) {
            engine.setEnabledProtocols(new String[] {"TLSv1.2"});
            engine.setEnabledCipherSuites(new String[] {"TLS_AES_128_GCM_SHA256"}); // TLS 1.3's
        }
        EmbeddedChannel ch = new EmbeddedChannel(new SslHandler(engine));
        ch.writeOneOutbound(Harness.direct("220 ready\r\n"));
        quietly(ch, misconfigured);
        try {
            ch.finishAndReleaseAll();
        } catch (Exception closedInHandshake) { } // thrown undeclared by EmbeddedChannel
    }

    static void quietly(EmbeddedChannel ch, boolean misconfigured) {
        Exception thrown = null;
        try {
            ch.flushOutbound();
        } catch (Exception e) {
            thrown = e;
        }
        if ((thrown != null) != misconfigured) throw new AssertionError("the engine", thrown);
    }
}
