package com.agents;

import java.io.IOException;
import java.io.InputStream;

/** Class files as they are in the jars. */
final class Jar {
    private Jar() {
    }

    static byte[] bytes(String name) throws IOException {
        try (InputStream in = ClassLoader.getSystemResourceAsStream(
                name.replace('.', '/') + ".class")) {
            return in.readAllBytes();
        }
    }

    /** The bytes with a text of the constant pool replaced by another of the same length. */
    static byte[] with(String name, String text, String other) throws IOException {
        byte[] bytes = bytes(name);
        int found = 0;
        for (int i = 0; i + text.length() <= bytes.length; i++) {
            boolean here = bytes[i] == text.charAt(0) && i >= 2 && bytes[i - 1] == text.length()
                    && bytes[i - 2] == 0;
            for (int k = 0; here && k < text.length(); k++) {
                here = bytes[i + k] == text.charAt(k);
            }
            for (int k = 0; here && k < text.length(); k++) {
                bytes[i + k] = (byte) other.charAt(k);
            }
            found += here ? 1 : 0;
        }
        if (found != 1 || text.length() != other.length()) {
            throw new IllegalStateException(text + " occurs " + found + " times in " + name);
        }
        return bytes;
    }
}
