package bbflow;

/**
 * What the rewriter's test agent calls: counts, nothing else. Defined in the boot loader, so that
 * every class can call it. Races lose counts; the corner cases run on one thread.
 */
public final class RewriteShim {
    public static long entries;
    public static long exits;
    public static long parameterExits;
    public static long constructed;
    public static long returned;
    public static long thrown;
    public static long widths;

    private RewriteShim() {}

    public static void enter(Object parameter, int id) {
        entries++;
    }

    public static void exit(Object value, int id) {
        exits++;
    }

    /** An exit that was also handed a parameter, as it was at entry. */
    public static void exit(Object value, Object parameter, int id) {
        parameterExits++;
    }

    public static void construct(Object self, int id) {
        constructed++;
    }

    public static void got(Object value, int id) {
        returned++;
    }

    public static void thrown(Object exception, int id) {
        thrown++;
    }

    public static void width(int value, int id) {
        widths += value;
    }

    public static long[] take() {
        long[] counts = {entries, exits, parameterExits, constructed, returned, thrown, widths};
        entries = exits = parameterExits = constructed = returned = thrown = widths = 0;
        return counts;
    }
}
