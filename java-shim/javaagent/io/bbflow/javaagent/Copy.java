// SPDX-License-Identifier: Apache-2.0
package io.bbflow.javaagent;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.zip.CRC32;

/**
 * The library of the jar as a file, PLACE/bbflow-UID/SUM/libbbflow.so. Only this user may enter bbflow-UID, the folder that the
 * agent's socket also has (wire/sockdir.h). SUM is that of the content, so that each build has one file, which all JVMs of
 * the user share. It appears whole, by a rename.
 */
final class Copy {
    private static final int PERMISSIONS = 0777, OTHERS_WRITE = 0022, STICKY = 01000, OWN = 0700;

    private final String resource, sum;
    private final long size, crc;

    /** sums: of the resource; Library has their order. */
    Copy(String resource, String[] sums) {
        this.resource = resource;
        sum = sums[0];
        size = Long.parseLong(sums[1]);
        crc = Long.parseLong(sums[2], 16);
    }

    /** The path of the copy. @throws IOException with the path and the reason */
    Path in(Path place) throws IOException {
        Path user = place.toRealPath().resolve("bbflow-" + uid());
        makePrivate(user);
        Path folder = user.resolve(sum.substring(0, 16));
        makePrivate(folder);
        Path file = folder.resolve("libbbflow.so"); // the name by which bbflow list and doctor know it
        if (!equalsFile(file))
            write(folder, file);
        return file;
    }

    private void write(Path folder, Path file) throws IOException {
        Path part = folder.resolve("." + file.getFileName() + "." + process() + "." + System.nanoTime());
        try {
            try (InputStream in = Copy.class.getResourceAsStream(resource)) {
                Files.copy(in, part);
            }
            Files.setPosixFilePermissions(part, PosixFilePermissions.fromString("r-x------"));
            Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(part);
        }
    }

    /** All of it is read: a full disk or a crash may have left anything. */
    boolean equalsFile(Path file) {
        try {
            if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) || Files.size(file) != size)
                return false;
            CRC32 found = new CRC32();
            found.update(Files.readAllBytes(file));
            return found.getValue() == crc;
        } catch (IOException | SecurityException unreadable) {
            return false;
        }
    }

    private static void makePrivate(Path folder) throws IOException {
        try {
            Files.createDirectory(folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        } catch (FileAlreadyExistsException there) {
            // checked below, because another user may have made it
        }
        boolean directory = Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS);
        int mode = (Integer) Files.getAttribute(folder, "unix:mode", LinkOption.NOFOLLOW_LINKS) & PERMISSIONS;
        int owner = (Integer) Files.getAttribute(folder, "unix:uid", LinkOption.NOFOLLOW_LINKS);
        if (!directory)
            throw new IOException(folder + ": not a folder but a symlink or a file (remove it)");
        if (owner != uid())
            throw new IOException(folder + ": belongs to uid " + owner + ", not to " + uid() + " (remove it)");
        if (mode != OWN)
            throw new IOException(folder + String.format(": mode is %04o, must be 0700 (chmod 700 or remove it)", mode));
    }

    /** May no other user but root rename what is in this folder? */
    static boolean isSafe(Path place) {
        try {
            int mode = (Integer) Files.getAttribute(place, "unix:mode");
            int owner = (Integer) Files.getAttribute(place, "unix:uid");
            return (owner == 0 || owner == uid()) && ((mode & OTHERS_WRITE) == 0 || (mode & STICKY) != 0);
        } catch (IOException | RuntimeException unknown) {
            return false;
        }
    }

    /** The effective user, whose number no Java method has. */
    private static int uid() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status")))
            if (line.startsWith("Uid:"))
                return (int) Long.parseLong(line.split("\t")[2]);
        throw new IOException("/proc/self/status has no Uid");
    }

    private static String process() throws IOException {
        return Files.readSymbolicLink(Path.of("/proc/self")).toString();
    }

    /** Path and reason of an error, without Java's names. */
    static String reason(Exception error) {
        if (!(error instanceof FileSystemException))
            return String.valueOf(error.getMessage());
        FileSystemException fault = (FileSystemException) error;
        String reason = fault.getReason() != null ? fault.getReason()
            : error instanceof AccessDeniedException ? "Permission denied"
            : error instanceof NoSuchFileException ? "No such file or directory" : error.getClass().getSimpleName();
        return fault.getFile() + ": " + reason;
    }
}
