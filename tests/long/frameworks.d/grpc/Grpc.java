package com.bench;

import com.shop.AuditService;
import com.shop.OrderMarshaller;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.netty.buffer.ByteBuf;
import java.lang.reflect.Field;
import java.net.InetSocketAddress;
import java.util.Deque;

/** A gRPC service whose marshaller takes messages without a copy, and a blocking client. */
public final class Grpc extends Program {
    private static final byte[] ORDER = "order ".repeat(80).getBytes(java.nio.charset.StandardCharsets.US_ASCII);
    private Server server;
    private ManagedChannel channel;
    private MethodDescriptor<byte[], byte[]> call;

    public static void main(String[] args) throws Exception {
        new Grpc().run();
    }

    private static MethodDescriptor<byte[], byte[]> method(AuditService audit) {
        return MethodDescriptor.<byte[], byte[]>newBuilder().setType(MethodDescriptor.MethodType.UNARY)
                .setFullMethodName("shop.Orders/create").setRequestMarshaller(new OrderMarshaller(audit))
                .setResponseMarshaller(new PlainMarshaller()).build();
    }

    @Override
    protected void start() throws Exception {
        call = method(new AuditService());
        server = NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", 0))
                .addService(ServerServiceDefinition.builder("shop.Orders").addMethod(call,
                        ServerCalls.<byte[], byte[]>asyncUnaryCall((order, answer) -> {
                            answer.onNext(order);
                            answer.onCompleted();
                        })).build()).build().start();
        channel = NettyChannelBuilder.forAddress("127.0.0.1", server.getPort()).usePlaintext().build();
    }

    @Override
    protected void request(int number) {
        byte[] answer = ClientCalls.blockingUnaryCall(channel, call, CallOptions.DEFAULT, ORDER);
        if (answer.length != OrderMarshaller.HEADER)
            throw new IllegalStateException("answer: " + answer.length);
    }

    /** A BufferInputStream's CompositeReadableBuffer's NettyReadableBuffer's ByteBuf. */
    @Override
    protected int refCnt(Object kept) throws ReflectiveOperationException {
        Object composite = field(kept, "buffer");
        Object part = ((Deque<?>) field(composite, "readableBuffers")).peek();
        return ((ByteBuf) field(part, "buffer")).refCnt();
    }

    private static Object field(Object of, String name) throws ReflectiveOperationException {
        Field field = of.getClass().getDeclaredField(name);
        field.setAccessible(true);
        return field.get(of);
    }

    @Override
    protected void stop() {
        channel.shutdownNow();
        server.shutdownNow();
    }
}
