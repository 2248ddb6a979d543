/** A JVM for tests/setup/run to attach to: prints a line, ends when its stdin closes. */
public class Sleep {
    public static void main(String[] args) throws Exception {
        System.out.println("ready");
        while (System.in.read() >= 0) {
        }
    }
}
