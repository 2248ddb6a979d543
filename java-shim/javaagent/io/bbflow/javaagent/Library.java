// SPDX-License-Identifier: Apache-2.0
package io.bbflow.javaagent;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Finds a libbbflow.so that this JVM can load: the one that the user names, one beside the jar, or that in the jar. No lambda and no
 * regular expression here, because each would be the JVM's first, and cost tens of milliseconds before main.
 */
final class Library {
    private static final String FILE = "libbbflow.so";

    private Library() {}

    /** Is there a library for this machine in the jar? */
    static boolean isCarried() {
        return sums() != null;
    }

    /** The path of what was loaded; null: nothing, and `why` has the reasons and the remedy. */
    static String load(StringBuilder why) throws Throwable {
        String named = Settings.library();
        if (named != null) {
            if (attempt(new File(named).getAbsolutePath(), why))
                return new File(named).getAbsolutePath();
            why.append("; ").append(source()).append(" names it: name a libbbflow.so for this machine and its C library, or nothing");
            return null;
        }
        if (!isCarried()) {
            why.append("this jar has no libbbflow.so for ").append(platform()).append(", only for Linux x86-64 and aarch64");
            return null;
        }
        return loadCarried(why);
    }

    private static String loadCarried(StringBuilder why) {
        Copy copy = new Copy(path(FILE), sums().split(" "));
        File jar = Settings.jar();
        if (jar != null) {
            Path beside = jar.toPath().toAbsolutePath().resolveSibling(FILE);
            if (copy.equalsFile(beside) && attempt(beside.toString(), why))
                return beside.toString();
        }
        for (Path place : places(jar)) {
            try {
                Path path = copy.in(place);
                if (attempt(path.toString(), why))
                    return path.toString();
                Files.deleteIfExists(path); // no other JVM can load it from there either
            } catch (IOException | RuntimeException error) {
                add(why, Copy.reason(error));
            }
        }
        why.insert(0, "no place for libbbflow.so: ").append("; give the JVM a folder that it may write to and execute from"
            + " (-Djava.io.tmpdir=), or a libbbflow.so (-D" + Settings.LIBRARY_PROPERTY + "=FILE, or " + Settings.LIBRARY_VARIABLE
            + " in the environment)");
        return null;
    }

    /** In this order, but folders in which other users may replace files last. */
    private static List<Path> places(File jar) {
        String[] names = {System.getProperty("java.io.tmpdir"), System.getenv("XDG_RUNTIME_DIR"), "/dev/shm",
            jar == null ? null : jar.getAbsoluteFile().getParent()};
        Set<Path> safe = new LinkedHashSet<>(), others = new LinkedHashSet<>();
        for (String name : names)
            if (name != null && !name.isEmpty()) {
                Path place = Path.of(name).toAbsolutePath();
                (Copy.isSafe(place) ? safe : others).add(place);
            }
        List<Path> all = new ArrayList<>(safe);
        all.addAll(others);
        return all;
    }

    private static boolean attempt(String path, StringBuilder why) {
        try {
            Start.loadForBootLoader(path);
            return true;
        } catch (Throwable error) {
            String text = String.valueOf(error.getMessage());
            while (text.startsWith(path + ": ")) // the JVM's own, twice
                text = text.substring(path.length() + 2);
            add(why, path + ": " + text);
            if (text.contains("failed to map segment") || text.contains("Operation not permitted"))
                why.append(" (mounted noexec)");
            return false;
        }
    }

    private static void add(StringBuilder why, String reason) {
        why.append(why.length() == 0 ? "" : "; ").append(reason);
    }

    private static String source() {
        String property = System.getProperty(Settings.LIBRARY_PROPERTY);
        return property != null && !property.isEmpty() ? "-D" + Settings.LIBRARY_PROPERTY : Settings.LIBRARY_VARIABLE;
    }

    private static String platform() {
        return System.getProperty("os.name") + " " + System.getProperty("os.arch");
    }

    private static String path(String name) {
        String arch = System.getProperty("os.arch", "");
        boolean linux = System.getProperty("os.name", "").equals("Linux");
        return "/META-INF/bbflow/" + (linux ? "linux-" + (arch.equals("amd64") ? "x86-64" : arch) : "none") + "/" + name;
    }

    /** SHA-256, size and CRC-32 (hexadecimal) of the library, which scripts/javaagent-jar notes; null: the jar has no such entry. */
    private static String sums() {
        try (InputStream in = Library.class.getResourceAsStream(path("sums"))) {
            return in == null ? null : new String(in.readAllBytes(), StandardCharsets.US_ASCII).trim();
        } catch (IOException error) {
            return null;
        }
    }
}
