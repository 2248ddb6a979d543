package com.seed;

/** What a program says of itself, for tests/jvm. */
final class Oracle {
    private Oracle() {
    }

    static void say(Object... namesAndValues) {
        StringBuilder line = new StringBuilder("ORACLE");
        for (int i = 0; i < namesAndValues.length; i += 2) {
            line.append(' ').append(namesAndValues[i]).append('=').append(namesAndValues[i + 1]);
        }
        System.out.println(line);
    }
}
