package com.bench;

import com.shop.AuditService;
import com.shop.OrderQueue;
import java.net.ServerSocket;
import org.apache.activemq.artemis.api.core.ActiveMQBuffer;
import org.apache.activemq.artemis.api.core.client.ActiveMQClient;
import org.apache.activemq.artemis.api.core.client.ClientSession;
import org.apache.activemq.artemis.api.core.client.ServerLocator;
import org.apache.activemq.artemis.core.config.impl.ConfigurationImpl;
import org.apache.activemq.artemis.core.server.embedded.EmbeddedActiveMQ;

/** An embedded Artemis broker and its core client, over TCP. */
public final class Artemis extends Program {
    private final EmbeddedActiveMQ broker = new EmbeddedActiveMQ();
    private ServerLocator locator;
    private OrderQueue queue;

    public static void main(String[] args) throws Exception {
        new Artemis().run();
    }

    @Override
    protected void start() throws Exception {
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        String url = "tcp://127.0.0.1:" + port;
        broker.setConfiguration(new ConfigurationImpl().setPersistenceEnabled(false)
                .setSecurityEnabled(false).addAcceptorConfiguration("tcp", url)).start();
        locator = ActiveMQClient.createServerLocator(url);
        ClientSession session = locator.createSessionFactory().createSession(true, true);
        queue = new OrderQueue(session, new AuditService());
    }

    @Override
    protected void request(int number) throws Exception {
        queue.exchange("order ".repeat(80));
    }

    @Override
    protected int refCnt(Object kept) {
        return ((ActiveMQBuffer) kept).byteBuf().refCnt();
    }

    @Override
    protected void stop() throws Exception {
        locator.close();
        broker.stop();
    }
}
