package com.bench;

import com.shop.AuditService;
import io.moquette.broker.Server;
import io.moquette.broker.config.MemoryConfig;
import io.moquette.interception.messages.InterceptPublishMessage;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Properties;

/** The MQTT broker moquette with an intercept handler; its client is a socket. */
public final class Moquette extends Program {
    private static final byte[] ORDER = "order ".repeat(80).getBytes(StandardCharsets.US_ASCII);
    private final Server server = new Server();
    private Socket client;

    public static void main(String[] args) throws Exception {
        new Moquette().run();
    }

    @Override
    protected void start() throws Exception {
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        Properties config = new Properties();
        config.setProperty("host", "127.0.0.1");
        config.setProperty("port", Integer.toString(port));
        config.setProperty("allow_anonymous", "true");
        config.setProperty("persistence_enabled", "false");
        config.setProperty("telemetry_enabled", "false");
        server.startServer(new MemoryConfig(config), List.of(new AuditService()));
        client = new Socket("127.0.0.1", port);
        client.setTcpNoDelay(true);
        send(0x10, out -> {
            out.writeUTF("MQTT");
            out.write(new byte[] {4, 2, 0, 60});
            out.writeUTF("shop");
        });
        read(4);
    }

    /** QoS 1: the broker answers. */
    @Override
    protected void request(int number) throws Exception {
        send(0x32, out -> {
            out.writeUTF("orders");
            out.writeShort(1 + number % 60_000);
            out.write(ORDER);
        });
        if (read(4)[0] != 0x40)
            throw new IllegalStateException("no PUBACK");
        for (long end = System.nanoTime() + 30_000_000_000L; Tally.seen() <= published
                && System.nanoTime() < end;)
            Thread.sleep(1); // intercept handlers have a thread of their own
        published++;
    }

    private long published;

    private interface Body {
        void write(DataOutputStream out) throws IOException;
    }

    private void send(int type, Body body) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        body.write(new DataOutputStream(bytes));
        ByteArrayOutputStream packet = new ByteArrayOutputStream();
        packet.write(type);
        int left = bytes.size();
        for (; left > 127; left >>= 7)
            packet.write(left & 127 | 128);
        packet.write(left);
        bytes.writeTo(packet);
        OutputStream out = client.getOutputStream();
        out.write(packet.toByteArray());
        out.flush();
    }

    private byte[] read(int bytes) throws IOException {
        InputStream in = client.getInputStream();
        return in.readNBytes(bytes);
    }

    @Override
    protected int refCnt(Object kept) {
        return ((InterceptPublishMessage) kept).getPayload().refCnt();
    }

    @Override
    protected void stop() throws Exception {
        client.close();
        server.stopServer();
    }
}
