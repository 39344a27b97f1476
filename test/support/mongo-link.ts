import { type FaultyLink, type LinkFilter, startLink } from './link.ts';

/** A link to a MongoDB server that loses one command, or its response. */
export interface MongoLink extends FaultyLink {
  /**
   * Resets the connection of the `last`-th command from now on: when it is `refused`, before it reaches the
   * server; when its response is `lost`, after it took effect.
   */
  failAt(last: number, fault: 'refused' | 'lost'): void;
  /** Returns the name of the command that failed since failAt(). Null if there is none. */
  failedAt(): string | null;
}

/** Commands that the driver sends on its own. */
const ofDriver = /^(?:hello|isMaster|ping|sasl\w*|endSessions|killCursors|abortTransaction)$/i;

const headerBytes = 16;
const opMsg = 2013;

/** Returns the name of the command at the start of a message. Empty for a handshake. */
function commandOf(data: Buffer): string {
  if (data.readInt32LE(12) !== opMsg) return '';
  // After the flags, the kind of the section, the length of the document, and the type of its first field.
  const start = headerBytes + 4 + 1 + 4 + 1;
  return data.toString('latin1', start, data.indexOf(0, start));
}

/** Starts a link to a MongoDB server on 127.0.0.1. */
export async function startMongoLink(to: number): Promise<MongoLink> {
  /** Bytes that are missing of the message that each connection is sending. */
  const missing = new WeakMap<object, number>();
  let left = Number.POSITIVE_INFINITY;
  let fault: 'refused' | 'lost' = 'refused';
  let failedIn: string | null = null;
  let losing: object | null = null;

  /** Returns the name of the command that begins with this data, or null if it begins none of the program. */
  const begin = (connection: object, data: Buffer): string | null => {
    const rest = missing.get(connection) ?? 0;
    const length = rest > 0 ? rest : data.readInt32LE(0);
    missing.set(connection, length - data.length);
    const name = rest > 0 ? '' : commandOf(data);
    return name === '' || ofDriver.test(name) ? null : name;
  };
  const filter: LinkFilter = {
    passes(connection, data, from) {
      if (from === 'server') return connection !== losing;
      const name = begin(connection, data);
      if (name === null || --left !== 0) return true;
      failedIn = name;
      if (fault === 'lost') losing = connection;
      return fault === 'lost';
    },
  };
  return {
    ...(await startLink(to, filter)),
    failAt(last, wanted) {
      left = last;
      fault = wanted;
      failedIn = null;
    },
    failedAt: () => failedIn,
  };
}
