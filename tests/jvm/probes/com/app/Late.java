package com.app;

import java.io.IOException;

/** Late COMMAND [ARGS]: what Probes does, once a line came in; until then no class of Netty is loaded. */
public final class Late {
    private Late() {
    }

    public static void main(String[] args) throws Throwable {
        System.out.println("READY");
        System.out.flush();
        untilLine();
        Probes.main(args);
    }

    static void untilLine() throws IOException {
        int c;
        do {
            c = System.in.read();
        } while (c >= 0 && c != '\n');
    }
}
