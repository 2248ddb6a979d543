package com.unit;

import io.bbflow.junit.BBFlowExtension;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetSocketAddress;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Tests that run at the same time on one event loop, which is never shut down: each sends bytes from
 * its client to its server, LOSES-… lose in a handler, in a task, or in a timer.
 */
@ExtendWith(BBFlowExtension.class)
@Execution(ExecutionMode.CONCURRENT)
class ParallelTest {
    private static final EventLoopGroup ONE = new NioEventLoopGroup(1);
    private static final ExecutorService POOL = Executors.newFixedThreadPool(1);
    private static final CyclicBarrier TOGETHER = new CyclicBarrier(8);
    private static Channel ofClass;

    /** Takes what its client sends, and says so; loses it or not. */
    private static final class Reader extends ChannelInboundHandlerAdapter {
        private final boolean loses;
        private final CountDownLatch done;

        Reader(boolean loses, CountDownLatch done) {
            this.loses = loses;
            this.done = done;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ByteBuf buffer = (ByteBuf) message;
            ByteBuf answer = ctx.alloc().directBuffer(16);
            if (loses)
                Lose.lose(answer);
            else
                answer.release();
            buffer.release();
            done.countDown();
        }
    }

    private static void exchange(boolean loses) throws Exception {
        CountDownLatch done = new CountDownLatch(1);
        Channel server = new ServerBootstrap().group(ONE).channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new Reader(loses, done));
                    }
                }).bind(new InetSocketAddress("127.0.0.1", 0)).sync().channel();
        Channel client = new Bootstrap().group(ONE).channel(NioSocketChannel.class)
                .handler(new ChannelInboundHandlerAdapter()).connect(server.localAddress()).sync().channel();
        TOGETHER.await(60, TimeUnit.SECONDS);
        client.writeAndFlush(Lose.make().writeByte(1)).sync();
        done.await(60, TimeUnit.SECONDS);
        client.close(); // the contexts stay open for a while: the test does not wait
        server.close();
    }

    @Test
    void reads() throws Exception {
        exchange(false);
    }

    @Test
    void LOSESInAHandler() throws Exception {
        exchange(true);
    }

    @Test
    void alsoReads() throws Exception {
        exchange(false);
    }

    @Test
    void LOSESInATask() throws Exception {
        TOGETHER.await(60, TimeUnit.SECONDS);
        ONE.submit(() -> Lose.lose()).sync();
    }

    @BeforeAll
    static void before() throws Exception {
        ofClass = new ServerBootstrap().group(ONE).channel(NioServerSocketChannel.class)
                .handler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
                        Lose.lose();
                    }
                }).childHandler(new ChannelInboundHandlerAdapter())
                .bind(new InetSocketAddress("127.0.0.1", 0)).sync().channel();
    }

    /** An event of a channel that is not the test's: the class is to fail, and no test. */
    @Test
    void losesInAnEventOfTheClass() throws Exception {
        TOGETHER.await(60, TimeUnit.SECONDS);
        ONE.submit(() -> ofClass.pipeline().fireUserEventTriggered("lose")).sync();
    }

    @Test
    @Timeout(value = 100, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void LOSESInAnotherThread() throws Exception {
        TOGETHER.await(60, TimeUnit.SECONDS);
        Lose.lose();
    }

    /** Whose task it is cannot be seen: the class is to fail, and no test. */
    @Test
    void losesInAPool() throws Exception {
        TOGETHER.await(60, TimeUnit.SECONDS);
        POOL.submit(() -> Lose.lose()).get();
    }

    @Test
    void LOSESInATimer() throws Exception {
        TOGETHER.await(60, TimeUnit.SECONDS);
        ONE.schedule(() -> Lose.lose(), 20, TimeUnit.MILLISECONDS).sync();
    }
}
