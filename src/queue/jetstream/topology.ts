import {
  AckPolicy,
  type ConsumerInfo,
  type JetStreamManager,
  NatsError,
  nanos,
  RetentionPolicy,
  StorageType,
  type StreamInfo,
} from 'nats';
import type { Log } from '../../base/log.ts';
import type { Lane } from '../../store/documents.ts';
import { streamLimits } from './limits.ts';
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

/** Subject of the messages of a lane and market; `>` matches every batch. */
export function subjectOf(stream: string, lane: string, market: string, rest: string = '>'): string {
  return `${stream}.work.${lane}.${market}.${rest}`;
}

/** Name of the durable consumer of a lane and market. */
export function consumerOf(lane: string, market: string): string {
  return `${lane}-${market}`;
}

// The engine's error codes.
const streamMissing = 10059;
const consumerMissing = 10014;
const streamTaken = 10058;
const tooFewServers = 10005;
const storeRefused = 10077;

/** The stream as it was found or made. */
export interface MadeStream {
  /** When, in milliseconds since the epoch by the server's clock. */
  madeAt: number;
  /** Whether it has the replicas it should; a cluster that is not complete yet has no room for them. */
  enough: boolean;
}

/**
 * Makes the stream where it is missing and brings one that is there up to the wish; keeps whatever
 * messages it has. Any number of processes may do so at once.
 */
export async function ensureStream(session: Session, wish: StreamWish, log: Log): Promise<MadeStream> {
  const { nc, jsm } = session;
  const replicas = wish.replicas ?? (nc.info?.cluster ? clusterReplicas : 1);
  const found = await orMissing(jsm.streams.info(wish.name), streamMissing);
  const { config, created } = found ?? (await makeStream(session, wish, replicas, log));
  const subjects = subjectsOf(wish);
  const isCurrent =
    `${config.subjects}` === `${subjects}` &&
    Object.entries(streamLimits).every(
      ([name, value]) => config[name as keyof typeof streamLimits] === value,
    );
  if (!isCurrent) await jsm.streams.update(wish.name, { ...streamLimits, subjects });
  const enough =
    config.num_replicas === replicas ||
    (wish.replicas === undefined && config.num_replicas > replicas) ||
    (found !== null && (await changeReplicas(jsm, wish.name, replicas, log)));
  return { madeAt: Date.parse(created), enough };
}

const clusterReplicas = 3;

const subjectsOf = (wish: StreamWish): string[] => [subjectOf(wish.name, '*', '*')];

/** Makes a stream; with one replica where the cluster is too small and nobody insists on more. */
async function makeStream(
  session: Session,
  wish: StreamWish,
  replicas: number,
  log: Log,
): Promise<StreamInfo> {
  const { nc, jsm } = session;
  try {
    const made = await jsm.streams.add({
      name: wish.name,
      description: 'Work of Gleaner: batches to be looked at',
      subjects: subjectsOf(wish),
      retention: RetentionPolicy.Workqueue,
      storage: StorageType.File,
      num_replicas: replicas,
      ...streamLimits,
    });
    log.info({ stream: wish.name, replicas }, 'stream made');
    return made;
  } catch (error) {
    // Another process made it a moment ago, with a wish of its own.
    if (isApiError(error, streamTaken)) return jsm.streams.info(wish.name);
    // A cluster of enough servers that is still coming up has room in a moment.
    const large = (nc.info?.connect_urls ?? []).length >= clusterReplicas;
    if (replicas === 1 || wish.replicas !== undefined || large || !isApiError(error, tooFewServers))
      throw error;
    log.warn({ stream: wish.name }, 'the cluster has too few servers: the stream gets one replica for now');
    return makeStream(session, wish, 1, log);
  }
}

/** Says whether it could be done; a cluster that is too small keeps the stream as it is. */
async function changeReplicas(
  jsm: JetStreamManager,
  stream: string,
  replicas: number,
  log: Log,
): Promise<boolean> {
  try {
    await jsm.streams.update(stream, { num_replicas: replicas });
    log.info({ stream, replicas }, 'replicas of the stream changed');
    return true;
  } catch (error) {
    log.debug({ stream, replicas, error: (error as Error).message }, 'too few replicas');
    return false;
  }
}

/** Makes a consumer where it is missing, and brings one that is there up to the wish. */
export async function ensureConsumer(
  { jsm }: Session,
  stream: string,
  wish: ConsumerWish,
): Promise<ConsumerInfo> {
  const name = consumerOf(wish.lane, wish.market);
  const wanted = { max_ack_pending: wish.concurrency, ack_wait: nanos(wish.ackWaitMs) };
  const filter_subject = subjectOf(stream, wish.lane, wish.market);
  const add = () =>
    jsm.consumers.add(stream, {
      durable_name: name,
      filter_subject,
      ack_policy: AckPolicy.Explicit,
      ...wanted,
    });
  const found = await orMissing(jsm.consumers.info(stream, name), consumerMissing);
  if (found === null) return add();
  const { config } = found;
  if (config.filter_subject !== filter_subject) {
    // Made by an earlier version, for subjects that are no longer used.
    await orMissing(jsm.consumers.delete(stream, name), consumerMissing);
    return add();
  }
  if (config.max_ack_pending === wanted.max_ack_pending && config.ack_wait === wanted.ack_wait) return found;
  return jsm.consumers.update(stream, name, wanted);
}

/** Returns whether a publish was refused because the stream still has a message of the same subject. */
export function isHeld(error: unknown): boolean {
  return isApiError(error, storeRefused) && /per subject/.test(describeError(error));
}

/** Returns the server's description of an API error, or else the error's own message. */
export function describeError(error: unknown): string {
  return (error instanceof NatsError && error.api_error?.description) || (error as Error).message;
}

/** Tells whether an answer of the engine is this error. */
function isApiError(error: unknown, code: number): boolean {
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
