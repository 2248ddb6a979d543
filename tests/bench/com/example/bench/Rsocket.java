package com.example.bench;

import io.netty.buffer.ByteBufAllocator;
import io.rsocket.Payload;
import io.rsocket.SocketAcceptor;
import io.rsocket.core.RSocketConnector;
import io.rsocket.core.RSocketServer;
import io.rsocket.frame.decoder.PayloadDecoder;
import io.rsocket.transport.netty.client.TcpClientTransport;
import io.rsocket.transport.netty.server.CloseableChannel;
import io.rsocket.transport.netty.server.TcpServerTransport;
import io.rsocket.util.ByteBufPayload;
import io.rsocket.RSocket;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Requests of 128 bytes over loopback to a server that sends each back without a copy; 16 in flight. */
final class Rsocket implements Workload {
    private static final int IN_FLIGHT = 16;

    private RSocket[] clients = {};

    @Override
    public void run(int threads) throws Exception {
        if (clients.length == 0) {
            connect(threads);
        }
        CountDownLatch left = new CountDownLatch(threads * IN_FLIGHT);
        for (int i = 0; i < threads; i++) {
            Pace pace = new Pace();
            for (int k = 0; k < IN_FLIGHT; k++) {
                next(i, pace, left);
            }
        }
        left.await();
    }

    private void connect(int threads) {
        CloseableChannel server = RSocketServer.create(SocketAcceptor.forRequestResponse(Mono::just))
                .payloadDecoder(PayloadDecoder.ZERO_COPY).bindNow(TcpServerTransport.create("127.0.0.1", 0));
        RSocket[] made = new RSocket[threads];
        for (int i = 0; i < threads; i++) {
            made[i] = RSocketConnector.create().payloadDecoder(PayloadDecoder.ZERO_COPY)
                    .connect(TcpClientTransport.create(server.address())).block();
        }
        clients = made;
    }

    private void next(int number, Pace pace, CountDownLatch left) {
        long wait;
        synchronized (pace) {
            if (Bench.stopped()) {
                left.countDown();
                return;
            }
            wait = pace.until(1);
        }
        if (wait == 0) {
            send(number, pace, left);
        } else {
            Schedulers.single().schedule(() -> send(number, pace, left), wait, TimeUnit.NANOSECONDS);
        }
    }

    private void send(int number, Pace pace, CountDownLatch left) {
        Payload request = ByteBufPayload.create(ByteBufAllocator.DEFAULT.directBuffer(128).writeZero(128));
        clients[number].requestResponse(request).subscribe(answer -> {
            answer.release();
            synchronized (pace) {
                Bench.done(number, 1);
            }
            next(number, pace, left);
        }, why -> {
            why.printStackTrace();
            System.exit(1);
        });
    }
}
