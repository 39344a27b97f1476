import { readMongoCommands } from '../../test/support/faults/command-link.ts';
import { startLink } from '../../test/support/faults/link.ts';

/** Commands that all processes of a service send to MongoDB. */
export interface CommandCounter {
  /** Connection string that counts. */
  readonly uri: string;
  /** Returns the commands so far, by their name and collection: `update batches`. */
  counts(): ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

/** Starts a counter in front of a MongoDB server on 127.0.0.1. */
export async function countCommands(uri: string): Promise<CommandCounter> {
  const counts = new Map<string, number>();
  const read = readMongoCommands();
  const url = new URL(uri);
  const link = await startLink(Number(url.port), {
    passes(connection, data, from) {
      if (from === 'client')
        for (const command of read(connection, data))
          counts.set(command, (counts.get(command) ?? 0) + 1);
      return true;
    },
  });
  url.port = String(link.port);
  url.hostname = '127.0.0.1';
  return { uri: url.href, counts: () => new Map(counts), stop: link.stop };
}
