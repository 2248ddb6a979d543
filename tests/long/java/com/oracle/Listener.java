package com.oracle;

import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/**
 * After each test class, and at the end: what the oracle counted, beside a snapshot of the agent's
 * of the same moment, in the folder com.oracle.out: NUMBER.json, and a line of NUMBER.txt "CLASS
 * opened released lost chunks", then "COUNT PLACE" of what was lost since the class before.
 */
public final class Listener implements TestExecutionListener {
    private final Path out = Path.of(System.getProperty("com.oracle.out", "."));
    private final String client = System.getProperty("com.oracle.client");
    private int number;

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        test.getSource().filter(ClassSource.class::isInstance).map(ClassSource.class::cast)
                .ifPresent(source -> look(source.getClassName()));
    }

    @Override
    public void testPlanExecutionFinished(TestPlan plan) {
        look("end");
    }

    private void look(String name) {
        if (client == null)
            return;
        String file = out.resolve(String.format("%04d", number++)).toString();
        try {
            for (int i = 0; i < 3; i++) // a life is seen to be lost one collection later
                ask(file);
            Map<String, Integer> lost = Oracle.look();
            try (PrintWriter text = new PrintWriter(
                    Files.newBufferedWriter(Path.of(file + ".txt"), StandardCharsets.UTF_8))) {
                text.println(name + " " + Oracle.opened + " " + Oracle.released + " "
                        + Oracle.lost + " " + Oracle.chunks);
                lost.forEach((place, count) -> text.println(count + " " + place));
            }
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private void ask(String file) throws IOException, InterruptedException {
        System.gc();
        Process asked = new ProcessBuilder(client, "dump", "--gc",
                String.valueOf(ProcessHandle.current().pid()))
                .redirectOutput(new File(file + ".json"))
                .redirectError(Redirect.appendTo(new File(out.toString(), "stderr"))).start();
        if (asked.waitFor() != 0)
            throw new IOException("bbflow dump: exit " + asked.exitValue());
    }
}
