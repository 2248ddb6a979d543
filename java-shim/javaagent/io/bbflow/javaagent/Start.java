// SPDX-License-Identifier: Apache-2.0
package io.bbflow.javaagent;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.Instrumentation;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.Charset;
import java.util.Map;
import java.util.Set;

/**
 * Loads libbbflow.so as a library of the boot loader and enters it. System.load in our own class would make the JVM
 * warn from Java 24 on, and fail with --illegal-native-access=deny; java.base may load libraries without a word.
 */
public final class Start {
    private static final String SECOND = "bbflow is already in this JVM; this second -javaagent is ignored";
    private static final int CONTINUES = 0;

    private Start() {}

    public static int premain(String options, Instrumentation instrumentation) throws Throwable {
        if (named("java.lang.BBFlowShim") != null || named("java.lang.BBFlowStart") != null) {
            Agent.log(SECOND);
            return CONTINUES;
        }
        String why = unfit();
        if (why == null)
            why = load(instrumentation);
        if (why != null)
            return isElsewhere() && !Settings.saysStop(options) ? off(why) : Agent.refuse("premain", options, why);
        return (Integer) enter("premain", byte[].class, byte[].class).invoke(null, bytes(options), bytes(Settings.jarName()));
    }

    public static int agentmain(String options, Instrumentation instrumentation) throws Throwable {
        String why = unfit();
        if (why == null && named("java.lang.BBFlowStart") == null)
            why = load(instrumentation);
        if (why != null)
            return Agent.refuse("agentmain", options, why);
        int code = (Integer) enter("agentmain", byte[].class).invoke(null, bytes(options));
        boolean there = code == 5 && named("java.lang.BBFlowShim") != null; // which the library has logged
        return there ? CONTINUES : code;
    }

    private static int off(String why) {
        Agent.log(why + "; bbflow stays off; the application continues");
        return CONTINUES;
    }

    /** A jar is shared by machines of all kinds, so a machine without a library is no fault of its command line. */
    private static boolean isElsewhere() {
        return Settings.library() == null && !Library.isCarried();
    }

    private static String unfit() {
        String name = System.getProperty("java.vm.name", "");
        boolean other = name.contains("OpenJ9") || name.contains("Substrate");
        return other ? "this JVM is " + name + "; bbflow needs HotSpot 11 or newer" : null;
    }

    /** null: done; otherwise why not. */
    private static String load(Instrumentation instrumentation) throws Throwable {
        Module base = Object.class.getModule(), ours = Start.class.getModule();
        instrumentation.redefineModule(base, Set.of(), Map.of(), Map.of("java.lang", Set.of(ours)), Set.of(), Map.of());
        String path = null;
        if (named("java.lang.BBFlowShim") == null) { // else the JVM has it by -agentpath, and finds its natives
            StringBuilder why = new StringBuilder();
            path = Library.load(why);
            if (path == null)
                return why.toString();
        }
        Class<?> start = define();
        Field library = start.getDeclaredField("library");
        library.setAccessible(true);
        library.set(null, path);
        return null;
    }

    private static Class<?> define() throws IOException, IllegalAccessException {
        try (InputStream in = Start.class.getResourceAsStream("/META-INF/bbflow/BBFlowStart.class")) {
            if (in == null)
                throw new IOException("the jar has no META-INF/bbflow/BBFlowStart.class");
            return MethodHandles.privateLookupIn(Object.class, MethodHandles.lookup()).defineClass(in.readAllBytes());
        }
    }

    /** What System.load does after its check, as if Object had called it. Java 15 changed the signature. */
    static void loadForBootLoader(String path) throws Throwable {
        Object[] arguments = {Object.class, new File(path)};
        Method method;
        try {
            method = ClassLoader.class.getDeclaredMethod("loadLibrary", Class.class, File.class);
        } catch (NoSuchMethodException old) {
            method = ClassLoader.class.getDeclaredMethod("loadLibrary", Class.class, String.class, boolean.class);
            arguments = new Object[] {Object.class, path, true};
        }
        method.setAccessible(true);
        try {
            method.invoke(null, arguments);
        } catch (InvocationTargetException error) {
            throw error.getCause();
        }
    }

    private static Method enter(String name, Class<?>... parameters) throws ReflectiveOperationException {
        Method method = named("java.lang.BBFlowStart").getDeclaredMethod(name, parameters);
        method.setAccessible(true);
        return method;
    }

    /** A class of the boot loader, or null. */
    private static Class<?> named(String name) {
        try {
            return Class.forName(name, false, null);
        } catch (ClassNotFoundException absent) {
            return null;
        }
    }

    /** As the command line had it: -agentpath gives the library those bytes. */
    private static byte[] bytes(String text) {
        String name = System.getProperty("sun.jnu.encoding", "UTF-8");
        return (text == null ? "" : text).getBytes(Charset.isSupported(name) ? Charset.forName(name) : Charset.defaultCharset());
    }
}
