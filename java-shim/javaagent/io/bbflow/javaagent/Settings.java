// SPDX-License-Identifier: Apache-2.0
package io.bbflow.javaagent;

import java.io.File;
import java.security.CodeSource;

/** What the command line and the environment say, as far as it matters before the library reads its options. Java 8. */
final class Settings {
    static final String OPTIONS_VARIABLE = "BBFLOW_OPTIONS";
    static final String LIBRARY_PROPERTY = "bbflow.library.path";
    static final String LIBRARY_VARIABLE = "BBFLOW_LIBRARY_PATH";

    private Settings() {}

    /** Must the JVM end because bbflow could not be started? The library decides the same way (refuse() in agent/agent.c). */
    static boolean stops(String options) {
        String onerror = onerror(given(options) ? options : System.getenv(OPTIONS_VARIABLE));
        return onerror.equals("stop") || !onerror.equals("warn") && !fromEnvironment(options);
    }

    /** Does onerror=stop say so in words? */
    static boolean saysStop(String options) {
        return onerror(given(options) ? options : System.getenv(OPTIONS_VARIABLE)).equals("stop");
    }

    private static boolean given(String options) {
        return options != null && !options.isEmpty();
    }

    private static String onerror(String options) {
        String value = "";
        for (String part : (options == null ? "" : options).split(","))
            if (part.trim().startsWith("onerror="))
                value = part.trim().substring("onerror=".length());
        return value;
    }

    private static boolean fromEnvironment(String options) {
        String[] variables = {"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"};
        for (String name : variables) {
            String value = System.getenv(name);
            if (value != null && (value.contains("bbflow") || value.contains(jarName())))
                return true;
        }
        return !given(options) && System.getenv(OPTIONS_VARIABLE) != null;
    }

    /** The jar; null: the classes come from no file. */
    static File jar() {
        CodeSource source = Settings.class.getProtectionDomain().getCodeSource();
        try {
            return source == null ? null : new File(source.getLocation().toURI());
        } catch (Exception error) { // no file: URL
            return null;
        }
    }

    /** As the command line has it: the file's own name, whatever its folder. */
    static String jarName() {
        File jar = jar();
        return jar == null || jar.getName().isEmpty() ? "bbflow" : jar.getName();
    }

    /** The file that the user names instead of the library in the jar; null: none. */
    static String library() {
        String path = System.getProperty(LIBRARY_PROPERTY);
        if (path == null || path.isEmpty())
            path = System.getenv(LIBRARY_VARIABLE);
        return path == null || path.isEmpty() ? null : path;
    }
}
