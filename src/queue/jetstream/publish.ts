import { ErrorCode, NatsError } from 'nats';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { Fault } from '../../contract/fault.ts';
import { type ConnectionSession, type JetStreamConnection, unreachable } from './connection.ts';
import { maxAgeMs } from './limits.ts';
import { encode, encodeHeaders } from './message.ts';
import {
  ensureStream,
  formatSubject,
  isElection,
  isHeld,
  requireOwnStream,
  type StreamSettings,
} from './topology.ts';

type Message = Parameters<typeof encode>[0];

/** Options for createPublisher(). */
export interface PublisherOptions {
  connection: JetStreamConnection;
  stream: StreamSettings;
  /** Time for which a publish is repeated that no server takes. */
  electionMs: number;
  /** Aborts when the queue is closed. */
  closing: AbortSignal;
  clock: Clock;
  log: Log;
}

/** Delay between two attempts at a publish. */
const retryDelayMs = 100;

/**
 * Creates a function that publishes a message, and returns false if the stream still has it. A
 * publish that no server takes is repeated for as long as an election of the stream's leader takes.
 * Several messages are stored once, because the subject names the batch, its attempt, and the
 * period. While no server has been connected for that long, a publish fails immediately. Rejects
 * with the last error, and with a ForeignQueueError if the stream belongs to another installation.
 */
export function createPublisher(options: PublisherOptions): (message: Message) => Promise<boolean> {
  const { connection, stream, electionMs, closing, clock, log } = options;

  const session = (): ConnectionSession => {
    const current = closing.aborted ? null : connection.current();
    if (current === null) throw unreachable();
    return current;
  };
  /** Sessions whose server has no stream of another installation. */
  const checked = new WeakMap<ConnectionSession, Promise<void>>();
  const requireOwn = (current: ConnectionSession): Promise<void> => {
    const check = checked.get(current) ?? requireOwnStream(current, stream);
    checked.set(current, check);
    check.catch(() => checked.delete(current));
    return check;
  };
  /** Creation of a missing stream, which all publishes share. */
  let creating: Promise<unknown> | null = null;
  const createStream = () => {
    creating ??= ensureStream(session(), stream, log).finally(() => {
      creating = null;
    });
    return creating;
  };

  return async (message) => {
    const { lane, market, batchId, attempt } = message;
    const period = Math.floor(clock.steady() / maxAgeMs);
    const subject = formatSubject(stream.name, lane, market, `${batchId}.${attempt}.${period}`);
    const data = encode(message);
    const headers = encodeHeaders(message);
    const until = (connection.lostAt() ?? clock.steady()) + electionMs;
    const publish = async (isMissing: boolean): Promise<void> => {
      if (isMissing) await createStream();
      const current = session();
      await requireOwn(current);
      await current.js.publish(subject, data, headers === undefined ? {} : { headers });
    };
    return publishUntil(until, publish, options);
  };
}

/**
 * Repeats a publish until a server takes it, or the time is over. `isMissing`: the stream must be
 * created first. Returns false if the stream still has the message.
 */
async function publishUntil(
  until: number,
  publish: (isMissing: boolean) => Promise<void>,
  { closing, clock }: Pick<PublisherOptions, 'closing' | 'clock'>,
): Promise<boolean> {
  let isMissing = false;
  for (;;) {
    try {
      await publish(isMissing);
      return true;
    } catch (error) {
      if (isHeld(error)) return false;
      if (closing.aborted || !isPassing(error) || clock.steady() >= until) throw error;
      // The first time, it is more likely that there is no stream than that it has no leader.
      const isNewlyMissing = hasNoResponder(error) && !isMissing;
      if (isNewlyMissing) isMissing = true;
      else await clock.sleep(retryDelayMs, closing).catch(() => {});
    }
  }
}

/** Codes of the client for a message or a response that is lost. */
const lostCodes = new Set<string>([
  ErrorCode.Timeout,
  ErrorCode.ConnectionClosed,
  ErrorCode.ConnectionDraining,
  ErrorCode.ConnectionRefused,
  ErrorCode.Disconnect,
]);

/** Returns true if another server, or the same one a moment later, may take the message. */
function isPassing(error: unknown): boolean {
  if (error instanceof Fault) return error.code === 'unavailable';
  return (
    hasNoResponder(error) ||
    isElection(error) ||
    (error instanceof NatsError && !error.api_error && lostCodes.has(error.code))
  );
}

function hasNoResponder(error: unknown): boolean {
  // Refusals by the server, such as a full stream, have the same code and an API error.
  return error instanceof NatsError && error.code === ErrorCode.NoResponders && !error.api_error;
}
