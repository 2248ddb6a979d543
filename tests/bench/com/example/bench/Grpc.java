package com.example.bench;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;

import io.netty.channel.DefaultEventLoopGroup;
import io.netty.channel.EventLoop;
import io.netty.channel.local.LocalAddress;
import io.netty.channel.local.LocalChannel;
import io.netty.channel.local.LocalServerChannel;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Messages of 128 bytes in one call, streamed to a server that sends each back; 16 in flight. */
final class Grpc implements Workload {
    private static final byte[] MESSAGE = new byte[128];
    private static final MethodDescriptor<byte[], byte[]> ECHO = MethodDescriptor
            .<byte[], byte[]>newBuilder().setType(MethodDescriptor.MethodType.BIDI_STREAMING)
            .setFullMethodName("bench.Echo/echo").setRequestMarshaller(new Bytes())
            .setResponseMarshaller(new Bytes()).build();
    private static final int IN_FLIGHT = 16;

    private ManagedChannel[] channels = {};
    private DefaultEventLoopGroup[] loops = {};

    @Override
    public void run(int threads) throws Exception {
        if (channels.length == 0) {
            channels = new ManagedChannel[threads];
            loops = new DefaultEventLoopGroup[threads];
            for (int i = 0; i < threads; i++) {
                loops[i] = new DefaultEventLoopGroup(1);
                channels[i] = connect(i, loops[i]);
            }
        }
        CountDownLatch left = new CountDownLatch(threads);
        for (int i = 0; i < threads; i++) {
            ClientCall<byte[], byte[]> call = channels[i].newCall(ECHO, CallOptions.DEFAULT);
            call.start(new Answers(call, i, loops[i].next(), left), new Metadata());
        }
        left.await();
    }

    private static ManagedChannel connect(int number, DefaultEventLoopGroup loop) throws IOException {
        LocalAddress address = new LocalAddress("grpc" + number);
        ServerServiceDefinition service = ServerServiceDefinition.builder("bench.Echo")
                .addMethod(ECHO, (call, headers) -> {
                    call.sendHeaders(new Metadata());
                    call.request(IN_FLIGHT);
                    return new Echo(call);
                }).build();
        Server server = NettyServerBuilder.forAddress(address).channelType(LocalServerChannel.class)
                .bossEventLoopGroup(loop).workerEventLoopGroup(loop).directExecutor()
                .addService(service).build();
        server.start();
        return NettyChannelBuilder.forAddress(address).channelType(LocalChannel.class)
                .eventLoopGroup(loop).directExecutor().usePlaintext().build();
    }

    private static final class Echo extends ServerCall.Listener<byte[]> {
        private final ServerCall<byte[], byte[]> call;

        Echo(ServerCall<byte[], byte[]> call) {
            this.call = call;
        }

        @Override
        public void onMessage(byte[] message) {
            call.sendMessage(message);
            call.request(1);
        }

        @Override
        public void onHalfClose() {
            call.close(Status.OK, new Metadata());
        }
    }

    private static final class Answers extends ClientCall.Listener<byte[]> {
        private final ClientCall<byte[], byte[]> call;
        private final int number;
        private final CountDownLatch left;
        private final EventLoop loop;
        private final Pace pace = new Pace();
        private int unanswered;
        private boolean begun;

        Answers(ClientCall<byte[], byte[]> call, int number, EventLoop loop, CountDownLatch left) {
            this.call = call;
            this.number = number;
            this.loop = loop;
            this.left = left;
        }

        /** On the event loop, like all that follows: a call is no thread-safe object. */
        @Override
        public void onReady() {
            if (begun) {
                return;
            }
            begun = true;
            call.request(IN_FLIGHT);
            for (; unanswered < IN_FLIGHT; unanswered++) {
                call.sendMessage(MESSAGE);
            }
        }

        @Override
        public void onMessage(byte[] message) {
            Bench.done(number, 1);
            call.request(1);
            if (!Bench.stopped()) {
                next(pace.until(1));
            } else if (--unanswered == 0) {
                call.halfClose();
            }
        }

        private void next(long wait) {
            if (wait == 0) {
                call.sendMessage(MESSAGE);
            } else {
                loop.schedule(() -> call.sendMessage(MESSAGE), wait, TimeUnit.NANOSECONDS);
            }
        }

        @Override
        public void onClose(Status status, Metadata trailers) {
            if (!status.isOk()) {
                status.asException().printStackTrace();
                System.exit(1);
            }
            left.countDown();
        }
    }

    /** Bytes as they are. */
    private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
        @Override
        public InputStream stream(byte[] value) {
            return new ByteArrayInputStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
            try {
                return stream.readAllBytes();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
