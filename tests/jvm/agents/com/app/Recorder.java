package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordingFile;

/** Starts a Flight Recording in the running program, ends it after the next phase, reads it. */
public final class Recorder implements BetweenPhases {
    private static final int ROUNDS = 1000;
    private static volatile boolean stop;
    private Recording recording;
    private Thread worker;

    @Override
    public void after(int phase) throws Exception {
        if (phase == 1) {
            recording = new Recording();
            recording.enable("jdk.ExecutionSample").withPeriod(Duration.ofMillis(10));
            recording.enable("jdk.ThreadDump").with("period", "100 ms");
            recording.enable(Round.class);
            worker = new Thread(Recorder::compute, "worker");
            worker.start();
            recording.start();
        } else if (phase == 2) {
            for (int i = 0; i < ROUNDS; i++) {
                ByteBuf b = PooledByteBufAllocator.DEFAULT.directBuffer(16).writeLong(i);
                Round.of(b);
                Steps.done(b);
            }
            Thread.sleep(400); // some samples of the worker, who never allocates
            Path file = Paths.get(System.getProperty("jfr.file"));
            recording.stop();
            recording.dump(file);
            recording.close();
            stop = true;
            worker.join();
            System.out.println("THEIRS jfr " + read(file));
        }
    }

    /** A method that bbflow rewrites, at work all the time. */
    private static void compute() {
        ByteBuf b = io.netty.buffer.Unpooled.EMPTY_BUFFER;
        long sum = 0;
        while (!stop) {
            sum += turn(b, sum);
        }
        System.setProperty("sum", Long.toString(sum));
    }

    private static long turn(ByteBuf b, long sum) {
        long x = sum + b.capacity();
        for (int i = 0; i < 1000; i++) {
            x = x * 6364136223846793005L + i;
        }
        return x;
    }

    private static String read(Path file) throws Exception {
        Map<String, Integer> count = new HashMap<>();
        long bytes = 0;
        boolean sampled = false;
        for (RecordedEvent event : RecordingFile.readAllEvents(file)) {
            String name = event.getEventType().getName();
            count.merge(name, 1, Integer::sum);
            if (name.equals("com.app.Round")) {
                bytes += event.getInt("bytes");
            } else if (name.equals("jdk.ExecutionSample") && event.getStackTrace() != null) {
                for (RecordedFrame frame : event.getStackTrace().getFrames()) {
                    sampled |= frame.getMethod().getType().getName().equals("com.app.Recorder")
                            && frame.getMethod().getName().equals("turn")
                            && frame.getLineNumber() > 0;
                }
            }
        }
        return "rounds=" + count.get("com.app.Round") + " bytes=" + bytes + " sampled=" + sampled;
    }
}
