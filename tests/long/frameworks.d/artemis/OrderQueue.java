package com.shop;

import org.apache.activemq.artemis.api.core.ActiveMQBuffer;
import org.apache.activemq.artemis.api.core.ActiveMQBuffers;
import org.apache.activemq.artemis.api.core.QueueConfiguration;
import org.apache.activemq.artemis.api.core.RoutingType;
import org.apache.activemq.artemis.api.core.client.ClientConsumer;
import org.apache.activemq.artemis.api.core.client.ClientMessage;
import org.apache.activemq.artemis.api.core.client.ClientProducer;
import org.apache.activemq.artemis.api.core.client.ClientSession;

public final class OrderQueue {
    private final ClientSession session;
    private final ClientProducer producer;
    private final ClientConsumer consumer;
    private final AuditService audit;

    public OrderQueue(ClientSession session, AuditService audit) throws Exception {
        this.session = session;
        this.audit = audit;
        session.createQueue(QueueConfiguration.of("orders").setRoutingType(RoutingType.ANYCAST).setDurable(false));
        producer = session.createProducer("orders");
        consumer = session.createConsumer("orders");
        session.start();
    }

    public void exchange(String order) throws Exception {
        ActiveMQBuffer body = ActiveMQBuffers.pooledBuffer(1024);
        body.writeString(order);
        ClientMessage message = session.createMessage(false);
        message.getBodyBuffer().writeBytes(body, 0, body.writerIndex());
        producer.send(message);
        audit.record(body);
        ClientMessage received = consumer.receive(30_000);
        received.acknowledge();
        if (!received.getBodyBuffer().readString().equals(order))
            throw new IllegalStateException("another order");
    }
}
