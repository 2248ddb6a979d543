package com.shop;

import com.corp.Envelope;

/** Takes buffers wrapped only: `till` is called by Probes, which waits for the end of stdin. */
public final class Till {
    private int total;

    private Till() {
    }

    public static void run(String[] args) throws Exception {
        Till till = new Till();
        till.pay(Envelope.of(64), new Till[0], "cash");
        System.out.println("READY");
        while (System.in.read() >= 0) {
            continue;
        }
    }

    private void pay(Envelope envelope, Till[] others, String how) {
        total += envelope.size() + others.length + how.length();
    }
}
