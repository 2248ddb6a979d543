// SPDX-License-Identifier: Apache-2.0
package com.shop;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** Echoes nine orders of each connection, then closes it. Without Netty, as backends are. */
final class Backend extends Thread {
    static final int ORDERS = 9;
    static final int SIZE = 5;
    private final ServerSocket server;

    Backend() throws IOException {
        super("backend");
        server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        setDaemon(true);
        start();
    }

    int port() {
        return server.getLocalPort();
    }

    @Override
    public void run() {
        while (true) {
            try (Socket socket = server.accept()) {
                for (int n = 1; n <= ORDERS; n++) {
                    socket.getOutputStream().write(socket.getInputStream().readNBytes(SIZE));
                }
            } catch (IOException gone) {
                continue; // the next one
            }
        }
    }
}
