package com.app;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Leaves one descriptor free for four seconds; prints what the rest of the process opened by it. */
public final class LastDescriptor {
    private LastDescriptor() {
    }

    public static void main(String[] args) throws IOException {
        Path free = Path.of("/proc/self/fd/63"); // of 64
        Files.isSymbolicLink(free); // its classes are loaded
        File any = new File("/dev/null");
        List<FileInputStream> held = new ArrayList<>();
        try {
            for (;;) {
                held.add(new FileInputStream(any));
            }
        } catch (IOException full) {
            held.remove(held.size() - 1).close();
        }
        Set<String> seen = new TreeSet<>();
        long end = System.nanoTime() + 4_000_000_000L;
        while (System.nanoTime() < end) {
            try {
                seen.add(Files.readSymbolicLink(free).toString());
            } catch (IOException closed) {
                continue;
            }
        }
        held.forEach(one -> {
            try {
                one.close();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
        System.out.println("seen " + seen);
    }
}
