package com.agents;

import com.sun.jdi.AbsentInformationException;
import com.sun.jdi.Bootstrap;
import com.sun.jdi.ClassType;
import com.sun.jdi.IntegerValue;
import com.sun.jdi.LocalVariable;
import com.sun.jdi.Location;
import com.sun.jdi.Method;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.StackFrame;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.Value;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.connect.AttachingConnector;
import com.sun.jdi.connect.Connector;
import com.sun.jdi.event.Event;
import com.sun.jdi.event.EventSet;
import com.sun.jdi.event.LocatableEvent;
import com.sun.jdi.request.EventRequest;
import com.sun.jdi.request.ModificationWatchpointRequest;
import com.sun.jdi.request.StepRequest;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Debugger PORT: a debugging session on "phases 3 N" that waits in Wait. Says on stdout all that a
 * person would see: capabilities, lines, local variables, steps, a popped frame, a watched field,
 * and which redefinitions the JVM takes.
 */
public final class Debugger {
    /** What jdb leaves out when it steps. */
    private static final String[] NOT_INTO = {"java.*", "javax.*", "sun.*", "com.sun.*",
        "jdk.internal.*"};
    private final VirtualMachine jvm;

    private Debugger(VirtualMachine jvm) {
        this.jvm = jvm;
    }

    public static void main(String[] args) throws Exception {
        AttachingConnector socket = null;
        for (AttachingConnector c : Bootstrap.virtualMachineManager().attachingConnectors()) {
            socket = c.name().equals("com.sun.jdi.SocketAttach") ? c : socket;
        }
        Map<String, Connector.Argument> where = socket.defaultArguments();
        where.get("hostname").setValue("127.0.0.1");
        where.get("port").setValue(args[0]);
        Debugger session = new Debugger(socket.attach(where));
        session.run();
        session.jvm.dispose();
    }

    private static void say(String text) {
        System.out.println(text.replaceAll("Lambda[$0-9]*[/.]0x[0-9a-f]+", "Lambda"));
    }

    private ClassType type(String name) {
        return (ClassType) jvm.classesByName(name).get(0);
    }

    private void go() throws Exception {
        ClassType wait = type("com.agents.Wait");
        wait.setValue(wait.fieldByName("go"), jvm.mirrorOf(true));
    }

    private void run() throws Exception {
        capabilities();
        for (String name : new String[] {"com.app.Steps", "com.app.Redefinable", "com.app.Phases",
            "io.netty.buffer.AbstractReferenceCountedByteBuf",
            "io.netty.buffer.PooledByteBufAllocator"}) {
            tables(type(name));
        }
        session();
        redefinitions();
        go();
    }

    private void capabilities() throws Exception {
        Set<String> can = new TreeSet<>();
        for (java.lang.reflect.Method m : VirtualMachine.class.getMethods()) {
            if (m.getName().startsWith("can") && m.getParameterCount() == 0
                    && (Boolean) m.invoke(jvm)) {
                can.add(m.getName());
            }
        }
        say("can " + can);
    }

    /** LineNumberTable and LocalVariableTable: lines in order, names and types. */
    private static void tables(ReferenceType type) {
        for (Method m : type.methods()) {
            String text = m.name() + m.signature();
            try {
                List<Integer> lines = new ArrayList<>();
                for (Location l : m.allLineLocations()) {
                    lines.add(l.lineNumber());
                }
                Set<String> variables = new LinkedHashSet<>();
                for (LocalVariable v : m.variables()) {
                    variables.add(v.name() + ":" + v.typeName() + (v.isArgument() ? "*" : ""));
                }
                text += " lines " + lines + " variables " + variables;
            } catch (AbsentInformationException none) {
                text += " no tables";
            }
            say("table " + type.name() + "." + text);
        }
    }

    private LocatableEvent next() throws Exception {
        while (true) {
            EventSet events = jvm.eventQueue().remove(20_000);
            if (events == null) {
                throw new IllegalStateException("no event in 20 s");
            }
            for (Event e : events) {
                if (e instanceof LocatableEvent) {
                    return (LocatableEvent) e;
                }
            }
            events.resume();
        }
    }

    private static String place(Location at) {
        return at.declaringType().name() + "." + at.method().name() + ":" + at.lineNumber();
    }

    private static void frames(ThreadReference thread) throws Exception {
        for (StackFrame frame : thread.frames()) {
            Map<String, String> values = new LinkedHashMap<>();
            try {
                for (LocalVariable v : frame.visibleVariables()) {
                    Value value = frame.getValue(v);
                    boolean number = value instanceof com.sun.jdi.PrimitiveValue;
                    values.put(v.name(), value == null ? "null" : number ? value.toString()
                            : value.type().name());
                }
            } catch (AbsentInformationException none) {
                values.put("no", "tables");
            }
            say("frame " + place(frame.location()) + " " + values);
        }
    }

    private void session() throws Exception {
        ClassType steps = type("com.app.Steps");
        EventRequest stop = jvm.eventRequestManager().createBreakpointRequest(
                steps.methodsByName("step").get(0).location());
        stop.enable();
        go();
        ThreadReference thread = next().thread();
        frames(thread);
        StackFrame caller = thread.frame(1);
        LocalVariable twice = caller.visibleVariableByName("twice");
        caller.setValue(twice, jvm.mirrorOf(((IntegerValue) caller.getValue(twice)).value() + 2));
        steps(thread, StepRequest.STEP_INTO, 12);
        steps(thread, StepRequest.STEP_OUT, 2);
        steps(thread, StepRequest.STEP_OVER, 6);
        jvm.resume();
        say("again at " + place(next().location()));
        thread.popFrames(thread.frame(0));
        say("popped to " + place(thread.frame(0).location()));
        jvm.resume();
        say("again at " + place(next().location()));
        stop.disable();
        ModificationWatchpointRequest watch = jvm.eventRequestManager()
                .createModificationWatchpointRequest(type("io.netty.buffer.AbstractByteBuf")
                .fieldByName("writerIndex"));
        watch.enable();
        for (int i = 0; i < 4; i++) {
            jvm.resume();
            say("writerIndex set at " + place(next().location()));
        }
        watch.disable();
    }

    private void steps(ThreadReference thread, int depth, int count) throws Exception {
        for (int i = 0; i < count; i++) {
            StepRequest step = jvm.eventRequestManager().createStepRequest(thread,
                    StepRequest.STEP_LINE, depth);
            for (String filter : NOT_INTO) {
                step.addClassExclusionFilter(filter);
            }
            step.addCountFilter(1);
            step.enable();
            jvm.resume();
            say("step " + place(next().location()));
            jvm.eventRequestManager().deleteEventRequest(step);
        }
    }

    /** The program stops at a breakpoint, then runs the redefined code. */
    private void redefinitions() throws Exception {
        String counted = "io.netty.buffer.AbstractReferenceCountedByteBuf";
        String buffer = "io.netty.buffer.ByteBuf";
        redefine("an application class as it is", "com.app.Steps", Jar.bytes("com.app.Steps"));
        redefine("an application class, a new body", "com.app.Redefinable",
                Jar.with("com.app.Redefinable", "first", "other"));
        redefine("an application class, another method", "com.app.Steps",
                Jar.with("com.app.Steps", "step2", "step3"));
        redefine("the counted base as it is", counted, Jar.bytes(counted));
        redefine("ByteBuf as it is", buffer, Jar.bytes(buffer));
        redefine("ByteBuf, another method", buffer,
                Jar.with(buffer, "markReaderIndex", "markReaderIndeX"));
        redefine("ByteBuf as it is once more", buffer, Jar.bytes(buffer));
        Map<ReferenceType, byte[]> together = new LinkedHashMap<>();
        for (String name : new String[] {"com.app.Steps", "com.app.Phases", buffer, counted,
            "io.netty.buffer.PooledByteBufAllocator"}) {
            together.put(type(name), Jar.bytes(name));
        }
        redefine("five together", together);
        jvm.resume();
    }

    private void redefine(String what, String name, byte[] bytes) {
        Map<ReferenceType, byte[]> one = new LinkedHashMap<>();
        one.put(type(name), bytes);
        redefine(what, one);
    }

    private void redefine(String what, Map<ReferenceType, byte[]> classes) {
        try {
            jvm.redefineClasses(classes);
            say("redefined " + what);
        } catch (UnsupportedOperationException | LinkageError no) {
            say("refused " + what + ": " + no);
        }
    }
}
