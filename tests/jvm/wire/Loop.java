/** A program with something to trace, until its input ends. */
public final class Loop {
    static volatile int n;

    static void work(int i) {
    }

    public static void main(String[] args) throws Exception {
        Thread worker = new Thread(() -> {
            while (true) {
                work(n++);
                try {
                    Thread.sleep(5);
                } catch (InterruptedException end) {
                    return;
                }
            }
        });
        worker.setDaemon(true);
        worker.start();
        System.out.println("READY");
        while (System.in.read() >= 0) {
        }
    }
}
