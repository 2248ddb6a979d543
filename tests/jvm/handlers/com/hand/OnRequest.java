package com.hand;

import com.example.bytebuf.tracker.metrics.MetricHandlerRegistry;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/** Loses buffers on request, a line each: "lose N", "gc", "sums". Each is answered by "DONE number". */
public final class OnRequest {
    private OnRequest() {
    }

    public static void main(String[] args) throws Exception {
        MetricHandlerRegistry.register(new Registered());
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String line;
        for (int done = 1; (line = in.readLine()) != null; done++) {
            if (line.startsWith("lose "))
                Main.loseDirect(Integer.parseInt(line.substring(5)));
            else if (line.equals("gc"))
                System.gc();
            else
                System.out.println("SUMS " + Sum.ALL.get("Registered").sums() + " in " + Sum.ALL.get("Registered").snapshots());
            System.out.println("DONE " + done);
        }
    }
}
