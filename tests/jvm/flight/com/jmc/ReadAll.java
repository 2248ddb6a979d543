package com.jmc;

import java.io.File;
import org.openjdk.jmc.common.item.IItem;
import org.openjdk.jmc.common.item.IItemCollection;
import org.openjdk.jmc.common.item.IItemIterable;
import org.openjdk.jmc.flightrecorder.JfrLoaderToolkit;

/** How many events JMC's parser reads from a recording. */
public final class ReadAll {
    private ReadAll() {
    }

    public static void main(String[] args) throws Exception {
        IItemCollection items = JfrLoaderToolkit.loadEvents(new File(args[0]));
        long count = 0;
        for (IItemIterable events : items) {
            for (IItem event : events) {
                count += event.getType() != null ? 1 : 0;
            }
        }
        System.out.println("events=" + count);
    }
}
