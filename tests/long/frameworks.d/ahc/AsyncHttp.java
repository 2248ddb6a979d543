package com.bench;

import com.shop.AuditService;
import com.shop.PriceFeed;
import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.asynchttpclient.AsyncHttpClient;
import org.asynchttpclient.AsyncHttpClientConfig.ResponseBodyPartFactory;
import org.asynchttpclient.Dsl;
import org.asynchttpclient.HttpResponseBodyPart;

/** AsyncHttpClient with lazy body parts; its server is the JDK's, which has no ByteBuf. */
public final class AsyncHttp extends Program {
    private static final byte[] PRICES = "price ".repeat(80).getBytes(java.nio.charset.StandardCharsets.US_ASCII);
    private HttpServer server;
    private AsyncHttpClient client;
    private PriceFeed feed;

    public static void main(String[] args) throws Exception {
        new AsyncHttp().run();
    }

    @Override
    protected void start() throws Exception {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/prices", exchange -> {
            exchange.sendResponseHeaders(200, PRICES.length);
            exchange.getResponseBody().write(PRICES);
            exchange.close();
        });
        server.start();
        client = Dsl.asyncHttpClient(Dsl.config().setResponseBodyPartFactory(ResponseBodyPartFactory.LAZY));
        feed = new PriceFeed(client, "http://127.0.0.1:" + server.getAddress().getPort() + "/prices",
                new AuditService());
    }

    @Override
    protected void request(int number) throws Exception {
        if (feed.read() != PRICES.length)
            throw new IllegalStateException("answer");
    }

    @Override
    protected int refCnt(Object kept) {
        return ((HttpResponseBodyPart) kept).getBodyByteBuf().refCnt();
    }

    @Override
    protected void stop() throws Exception {
        client.close();
        server.stop(0);
    }
}
