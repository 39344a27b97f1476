import type { CourseRunner } from '../jobs/course.ts';
import { type FaultyLink, type LinkFilter, startLink } from './link.ts';

/** A link to a server that loses a command, or its response. */
export interface CommandLink extends FaultyLink {
  /**
   * Resets the connection of the `last`-th command from now on: when it is `refused`, before it
   * reaches the server; when its response is `lost`, after it took effect. The next `times - 1`
   * commands fail as well, such as those by which a client repeats it.
   */
  failAt(last: number, fault: 'refused' | 'lost', times?: number): void;
  /** Returns the name of the command that failed since failAt(). Null if there is none. */
  failedAt(): string | null;
}

/** Returns the names of the program's commands that begin in data of a connection. */
export type CommandReader = (connection: object, data: Buffer) => readonly string[];

/** Commands that the driver of MongoDB sends on its own. */
const ofDriver = /^(?:hello|isMaster|ping|sasl\w*|endSessions|killCursors|abortTransaction)$/i;

const headerBytes = 16;
const opMsg = 2013;

/** Creates a reader of MongoDB commands, with their collections: `update batches`. */
export function readMongoCommands(): CommandReader {
  /** Bytes that are missing of the message that each connection is sending. */
  const missing = new WeakMap<object, number>();
  return (connection, data) => {
    const rest = missing.get(connection) ?? 0;
    const length = rest > 0 ? rest : data.readInt32LE(0);
    missing.set(connection, length - data.length);
    if (rest > 0 || data.readInt32LE(12) !== opMsg) return [];
    // After the flags, the kind of the section, the length of the document, and the type of its
    // first field.
    const start = headerBytes + 4 + 1 + 4 + 1;
    const name = data.toString('latin1', start, data.indexOf(0, start));
    if (ofDriver.test(name)) return [];
    // The value of the first field, a string after its length, is the collection.
    const value = start + name.length + 1 + 4;
    return [`${name} ${data.toString('latin1', value, data.indexOf(0, value))}`];
  };
}

/**
 * Returns the subjects that a client of NATS publishes to: its requests, messages, and
 * acknowledgements.
 */
export const readNatsCommands: CommandReader = (_connection, data) =>
  [...data.toString('latin1').matchAll(/^H?PUB (\S+)/gm)].map(([, subject]) => subject!);

/** Returns the methods and paths of the requests of an S3 client. */
export const readS3Commands: CommandReader = (_connection, data) =>
  [...data.toString('latin1').matchAll(/^([A-Z]+ \/\S*) HTTP\/1\.1\r$/gm)].map(
    ([, request]) => request!,
  );

/** Starts a link to a server on 127.0.0.1. */
export async function startCommandLink(to: number, read: CommandReader): Promise<CommandLink> {
  let left = Number.POSITIVE_INFINITY;
  let fault: 'refused' | 'lost' = 'refused';
  let failing = 1;
  let failedIn: string | null = null;
  const losing = new WeakSet<object>();

  const filter: LinkFilter = {
    passes(connection, data, from) {
      if (from === 'server') return !losing.has(connection);
      let passes = true;
      for (const name of read(connection, data)) {
        left -= 1;
        if (left > 0 || left <= -failing) continue;
        failedIn ??= name;
        if (fault === 'lost') losing.add(connection);
        else passes = false;
      }
      return passes;
    },
  };
  return {
    ...(await startLink(to, filter)),
    failAt(last, wanted, times = 1) {
      left = last;
      fault = wanted;
      failing = times;
      failedIn = null;
    },
    failedAt: () => failedIn,
  };
}

/** Options for loseEach(). */
export interface LossOptions {
  fault: 'refused' | 'lost';
  /** What the link loses: "command". */
  what: string;
  /** Distance between the commands that are lost. Default: 1. */
  stride?: number;
  /** Commands that fail in a row. Default: 1. */
  times?: number;
}

/**
 * Takes a job through a course for each command of it, which the link loses. Returns the number of
 * the first command that no job sent.
 */
export async function loseEach(
  link: CommandLink,
  { survives }: CourseRunner,
  { fault, what, stride = 1, times }: LossOptions,
): Promise<number> {
  const crashed = new Promise<never>(() => {});
  const isCrashed = () => link.failedAt() !== null;
  const crashedAt = () => link.failedAt() ?? '';
  for (let last = 1; ; last += stride) {
    const isLost = await survives(`${what} ${last} ${fault}`, (context) => {
      link.failAt(last, fault, times);
      return { context, crashed, isCrashed, crashedAt };
    });
    if (!isLost) return last;
  }
}
