package com.bench;

import io.micronaut.core.io.buffer.ByteBuffer;
import io.micronaut.runtime.server.EmbeddedServer;
import io.micronaut.context.ApplicationContext;
import io.netty.buffer.ByteBuf;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** A Micronaut controller on its Netty server; the client is the JDK's. */
public final class Micronaut extends Program {
    private final HttpClient client = HttpClient.newHttpClient();
    private EmbeddedServer server;
    private HttpRequest order;

    public static void main(String[] args) throws Exception {
        new Micronaut().run();
    }

    @Override
    protected void start() {
        server = ApplicationContext.run(EmbeddedServer.class, Map.of("micronaut.server.port", -1));
        order = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.getPort() + "/orders"))
                .header("Content-Type", "application/octet-stream")
                .version(HttpClient.Version.HTTP_1_1)
                .POST(HttpRequest.BodyPublishers.ofString("order ".repeat(80))).build();
    }

    @Override
    protected void request(int number) throws Exception {
        String answer = client.send(order, HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8)).body();
        if (!answer.equals("accepted"))
            throw new IllegalStateException("answer: " + answer);
    }

    @Override
    protected int refCnt(Object kept) {
        return ((ByteBuf) ((ByteBuffer<?>) kept).asNativeBuffer()).refCnt();
    }

    @Override
    protected void stop() {
        server.stop();
    }
}
