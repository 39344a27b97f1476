import de.bwaldvogel.mongo.MongoBackend;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.h2.H2Backend;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import org.h2.mvstore.MVStore;

/**
 * Serves the MongoDB protocol on 127.0.0.1. Arguments: a port (0 for any), and optionally a data file. In memory,
 * the property `clock` names a file with the seconds by which the time of the engine is ahead.
 */
public class MongoServer {
    /** Minimum version that current drivers require: wire version 9. */
    static final MongoVersion VERSION = new MongoVersion() {
        public List<Integer> getVersionArray() { return List.of(4, 4, 0); }
        public int getWireVersion() { return 9; }
    };

    public static void main(String[] arguments) throws Exception {
        MongoBackend backend = arguments.length > 1 ? onFile(arguments[1]) : inMemory();
        var server = new de.bwaldvogel.mongo.MongoServer(backend.version(VERSION));
        server.bind("127.0.0.1", Integer.parseInt(arguments[0]));
        Runtime.getRuntime().addShutdownHook(new Thread(server::shutdownNow));
        System.out.println(server.getLocalAddress().getPort());
    }

    static MongoBackend inMemory() {
        var clock = System.getProperty("clock");
        return clock == null ? new MemoryBackend() : new MemoryBackend(new SteppedClock(Path.of(clock)));
    }

    static MongoBackend onFile(String name) {
        var store = new MVStore.Builder().fileName(name).open();
        store.setAutoCommitDelay(20);
        return new H2Backend(store);
    }

    /** The system clock, ahead by the seconds in a file. */
    static class SteppedClock extends Clock {
        private final Path file;

        SteppedClock(Path file) {
            this.file = file;
        }

        public Instant instant() {
            try {
                return Instant.now().plusSeconds(Long.parseLong(Files.readString(file).strip()));
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
        }

        public ZoneId getZone() { return ZoneOffset.UTC; }
        public Clock withZone(ZoneId zone) { return this; }
    }
}
