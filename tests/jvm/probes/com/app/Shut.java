package com.app;

/** Is java.lang as shut to the application as without an agent? */
final class Shut {
    private Shut() {}

    public static void main(String[] args) throws Exception {
        try {
            ClassLoader.class.getDeclaredMethod("findLoadedClass", String.class).setAccessible(true);
            System.out.println("OPEN");
        } catch (RuntimeException shut) { // InaccessibleObjectException
            System.out.println("SHUT");
        }
    }
}
