import {
  AckPolicy,
  type ConsumerInfo,
  type JetStreamManager,
  NatsError,
  nanos,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from 'nats';
import type { Log } from '../../base/log.ts';
import type { Lane } from '../../store/documents.ts';
import type { Session } from './link.ts';

/** A stream of work: one for a deployment. */
export interface StreamWish {
  /** Name of the stream and first word of its subjects. */
  name: string;
  /** Undefined: 3 on a cluster, 1 on a single server. */
  replicas: number | undefined;
}

/** A durable consumer of one lane and market. */
export interface ConsumerWish {
  lane: Lane;
  market: string;
  concurrency: number;
  ackWaitMs: number;
}

/** Where the messages of a lane and market go. */
export function subjectOf(stream: string, lane: string, market: string): string {
  return `${stream}.work.${lane}.${market}`;
}

/** Name of the durable consumer of a lane and market. */
export function consumerOf(lane: string, market: string): string {
  return `${lane}-${market}`;
}

// The engine's error codes.
const streamMissing = 10059;
const consumerMissing = 10014;
const streamTaken = 10058;
const notClustered = 10074;
const tooFewServers = 10005;

/**
 * Makes the stream where it is missing and brings one that is there up to the wish; keeps whatever
 * messages it has. Any number of processes may do so at once. Resolves with when the stream was made,
 * in milliseconds since the epoch by the server's clock.
 */
export async function ensureStream({ nc, jsm }: Session, wish: StreamWish, log: Log): Promise<number> {
  const subjects = [subjectOf(wish.name, '*', '*')];
  const replicas = wish.replicas ?? (nc.info?.cluster ? 3 : 1);
  const found = await orMissing(jsm.streams.info(wish.name), streamMissing);
  if (found === null) {
    const config: Partial<StreamConfig> = {
      name: wish.name,
      description: 'Work of Gleaner: batches to be looked at',
      subjects,
      retention: RetentionPolicy.Workqueue,
      storage: StorageType.File,
    };
    const made = await withReplicas(replicas, wish.replicas !== undefined, (count) =>
      jsm.streams.add({ ...config, num_replicas: count }),
    );
    if (made) log.info({ stream: wish.name, replicas: made.config.num_replicas }, 'stream made');
    return Date.parse((made ?? (await jsm.streams.info(wish.name))).created);
  }
  if (`${found.config.subjects}` !== `${subjects}`) await jsm.streams.update(wish.name, { subjects });
  const enough = wish.replicas === undefined && found.config.num_replicas > replicas;
  if (!enough && found.config.num_replicas !== replicas) await changeReplicas(jsm, wish.name, replicas, log);
  return Date.parse(found.created);
}

/** A cluster that is too small keeps the stream as it is. */
async function changeReplicas(
  jsm: JetStreamManager,
  stream: string,
  replicas: number,
  log: Log,
): Promise<void> {
  try {
    await jsm.streams.update(stream, { num_replicas: replicas });
    log.info({ stream, replicas }, 'replicas of the stream changed');
  } catch (error) {
    log.warn({ stream, replicas, error: (error as Error).message }, 'too few replicas');
  }
}

/** Makes a consumer where it is missing, and brings one that is there up to the wish. */
export async function ensureConsumer(
  { jsm }: Session,
  stream: string,
  wish: ConsumerWish,
): Promise<ConsumerInfo> {
  const name = consumerOf(wish.lane, wish.market);
  const limits = { max_ack_pending: wish.concurrency, ack_wait: nanos(wish.ackWaitMs) };
  const found = await orMissing(jsm.consumers.info(stream, name), consumerMissing);
  if (found === null) {
    return jsm.consumers.add(stream, {
      durable_name: name,
      filter_subject: subjectOf(stream, wish.lane, wish.market),
      ack_policy: AckPolicy.Explicit,
      ...limits,
    });
  }
  const { config } = found;
  if (config.max_ack_pending === limits.max_ack_pending && config.ack_wait === limits.ack_wait) return found;
  return jsm.consumers.update(stream, name, limits);
}

/** Tells whether an answer of the engine is this error. */
export function isApiError(error: unknown, code: number): boolean {
  return error instanceof NatsError && error.api_error?.err_code === code;
}

/** Reads a consumer; null when it, or its stream, is not there. */
export async function readConsumer(
  { jsm }: Session,
  stream: string,
  name: string,
): Promise<ConsumerInfo | null> {
  return orMissing(orMissing(jsm.consumers.info(stream, name), consumerMissing), streamMissing);
}

async function orMissing<T>(answer: Promise<T>, code: number): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (isApiError(error, code)) return null;
    throw error;
  }
}

/** Makes a stream with fewer replicas where the cluster is too small and nobody insists. */
async function withReplicas<T>(
  replicas: number,
  insisted: boolean,
  make: (count: number) => Promise<T>,
): Promise<T | null> {
  try {
    return await make(replicas);
  } catch (error) {
    // Another process made it a moment ago with a wish of its own.
    if (isApiError(error, streamTaken)) return null;
    const small = isApiError(error, notClustered) || isApiError(error, tooFewServers);
    if (replicas === 1 || insisted || !small) throw error;
    return withReplicas(1, true, make);
  }
}
