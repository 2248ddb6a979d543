package com.agents;

import java.io.File;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import org.jacoco.core.analysis.Analyzer;
import org.jacoco.core.analysis.CoverageBuilder;
import org.jacoco.core.analysis.IClassCoverage;
import org.jacoco.core.data.ExecutionData;
import org.jacoco.core.tools.ExecFileLoader;

/** ExecDump FILE: JaCoCo's execution data: class, id, probes; then the lines it makes of them. */
public final class ExecDump {
    private ExecDump() {
    }

    public static void main(String[] args) throws IOException {
        ExecFileLoader loader = new ExecFileLoader();
        loader.load(new File(args[0]));
        Map<String, String> all = new TreeMap<>();
        for (ExecutionData data : loader.getExecutionDataStore().getContents()) {
            StringBuilder probes = new StringBuilder();
            for (boolean probe : data.getProbes()) {
                probes.append(probe ? '1' : '0');
            }
            all.put(data.getName(), String.format("%016x %s", data.getId(), probes));
        }
        all.forEach((name, text) -> System.out.println("probes " + name + " " + text));
        CoverageBuilder coverage = new CoverageBuilder();
        Analyzer analyzer = new Analyzer(loader.getExecutionDataStore(), coverage);
        for (String name : all.keySet()) {
            analyzer.analyzeClass(Jar.bytes(name), name);
        }
        for (IClassCoverage c : coverage.getClasses()) {
            System.out.println("lines " + c.getName() + " "
                    + c.getLineCounter().getCoveredCount() + " of "
                    + c.getLineCounter().getTotalCount()
                    + (c.isNoMatch() ? " does not match" : ""));
        }
    }
}
