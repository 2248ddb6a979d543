package com.bench;

import com.shop.AuditService;
import com.shop.OrderLog;
import java.net.ServerSocket;
import org.apache.bookkeeper.client.api.BookKeeper;
import org.apache.bookkeeper.client.api.LedgerEntry;
import org.apache.bookkeeper.conf.ClientConfiguration;
import org.apache.bookkeeper.conf.ServerConfiguration;
import org.apache.bookkeeper.util.LocalBookKeeper;

/** One bookie with its ZooKeeper in this JVM, and BookKeeper's client. */
public final class BookKeeperLog extends Program {
    private BookKeeper client;
    private OrderLog log;

    public static void main(String[] args) throws Exception {
        new BookKeeperLog().run();
    }

    private static int freePort() throws Exception {
        try (ServerSocket free = new ServerSocket(0)) {
            return free.getLocalPort();
        }
    }

    @Override
    protected void start() throws Exception {
        int zooKeeper = freePort();
        ServerConfiguration conf = new ServerConfiguration();
        conf.setAllowLoopback(true).setAllowEphemeralPorts(true).setBookiePort(freePort());
        conf.setJournalSyncData(false);
        conf.setProperty("zookeeper.admin.enableServer", false);
        LocalBookKeeper.getLocalBookies("127.0.0.1", zooKeeper, 1, true, conf).start();
        ClientConfiguration clientConf = new ClientConfiguration();
        clientConf.setMetadataServiceUri("zk+null://127.0.0.1:" + zooKeeper + "/ledgers");
        clientConf.setUseV2WireProtocol(true); // the other one copies entries to the heap
        client = BookKeeper.newBuilder(clientConf).build();
        log = new OrderLog(client, new AuditService());
    }

    @Override
    protected void request(int number) throws Exception {
        log.exchange("order ".repeat(80));
    }

    @Override
    protected int refCnt(Object kept) {
        return ((LedgerEntry) kept).getEntryBuffer().refCnt();
    }

    @Override
    protected void stop() throws Exception {
        client.close();
    }
}
