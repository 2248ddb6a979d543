package com.app;

import java.io.IOException;

/** Starts the command that its arguments are, which has this JVM's stdout, and waits for it. */
public final class Children {
    private Children() {
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        int exit = new ProcessBuilder(args).inheritIO().start().waitFor();
        System.out.println("exit " + exit);
        System.in.read();
    }
}
