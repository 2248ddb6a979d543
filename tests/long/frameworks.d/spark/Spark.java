package com.bench;

import com.shop.AuditService;
import com.shop.BlockFetcher;
import com.shop.BlockStore;
import java.util.Map;
import org.apache.spark.network.TransportContext;
import org.apache.spark.network.client.TransportClient;
import org.apache.spark.network.buffer.NettyManagedBuffer;
import org.apache.spark.network.server.TransportServer;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;
import io.netty.buffer.ByteBuf;
import java.lang.reflect.Field;

/** Spark's network layer: a block server, and a client that fetches its chunks. */
public final class Spark extends Program {
    private TransportContext context;
    private TransportServer server;
    private TransportClient client;
    private final BlockFetcher fetcher = new BlockFetcher(new AuditService());

    public static void main(String[] args) throws Exception {
        new Spark().run();
    }

    @Override
    protected void start() throws Exception {
        TransportConf conf = new TransportConf("shop", new MapConfigProvider(Map.of()));
        context = new TransportContext(conf, new BlockStore());
        server = context.createServer("127.0.0.1", 0, java.util.List.of());
        client = context.createClientFactory(java.util.List.of())
                .createClient("127.0.0.1", server.getPort());
    }

    @Override
    protected void request(int number) throws Exception {
        fetcher.fetch(client, number);
    }

    @Override
    protected int refCnt(Object kept) throws ReflectiveOperationException {
        Field field = NettyManagedBuffer.class.getDeclaredField("buf");
        field.setAccessible(true);
        return ((ByteBuf) field.get(kept)).refCnt();
    }

    @Override
    protected void stop() {
        client.close();
        server.close();
        context.close();
    }
}
