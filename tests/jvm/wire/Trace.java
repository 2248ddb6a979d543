import static org.openjdk.btrace.core.BTraceUtils.*;
import org.openjdk.btrace.core.BTraceUtils.Aggregations;
import org.openjdk.btrace.core.aggregation.*;
import org.openjdk.btrace.core.annotations.*;

/** A probe of a stock agent: every kind of data that one prints. */
@BTrace
public class Trace {
    static Aggregation sizes = Aggregations.newAggregation(AggregationFunction.QUANTIZE);
    static Aggregation calls = Aggregations.newAggregation(AggregationFunction.COUNT);

    @OnMethod(clazz = "Loop", method = "work")
    public static void work(int i) {
        Aggregations.addToAggregation(sizes, Aggregations.newAggregationKey("work"), i % 50);
        Aggregations.addToAggregation(calls, Aggregations.newAggregationKey("work"), 1);
    }

    @OnTimer(300)
    public static void print() {
        println("tick");
        printNumber("answer", 42);
        Aggregations.printAggregation("sizes", sizes);
        Aggregations.printAggregation("calls", calls);
    }

    @OnEvent("hello")
    public static void hello() {
        println("hello yourself");
    }
}
