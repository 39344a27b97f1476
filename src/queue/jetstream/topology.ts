import {
  AckPolicy,
  type ConsumerInfo,
  type JetStreamManager,
  NatsError,
  nanos,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
  type StreamInfo,
} from 'nats';
import { ForeignQueueError } from '../../base/data-refused-error.ts';
import type { Log } from '../../base/log.ts';
import type { Lane } from '../../store/documents.ts';
import type { ConnectionSession } from './connection.ts';
import { streamLimits } from './limits.ts';

/** Settings of the work stream; a deployment has one. */
export interface StreamSettings {
  /** Name of the stream and first token of its subjects. */
  name: string;
  /** Defaults to 3 on a cluster and 1 on a single server. */
  replicas: number | undefined;
  /** Returns the id of the installation that the stream belongs to. */
  owner: () => Promise<string>;
}

/** Settings of the durable consumer of a lane and market. */
export interface ConsumerSettings {
  lane: Lane;
  market: string;
  concurrency: number;
  ackWaitMs: number;
}

/** Returns the subject of the messages of a lane and market; `>` matches all batches. */
export function formatSubject(
  stream: string,
  lane: string,
  market: string,
  rest: string = '>',
): string {
  return `${stream}.work.${lane}.${market}.${rest}`;
}

/** Returns the name of the durable consumer of a lane and market. */
export function formatConsumerName(lane: string, market: string): string {
  return `${lane}-${market}`;
}

// Error codes of the JetStream API.
const streamMissing = 10059;
const consumerMissing = 10014;
const streamTaken = 10058;
const subjectsOverlap = 10065;
const tooFewServers = 10005;
const storeRefused = 10077;
/** Too few servers, no cluster, no leader, and a stream or a consumer that is offline. */
const electionCodes = [tooFewServers, 10008, 10009, 10118, 10119];

/** State of the stream after ensureStream(). */
export interface EnsuredStream {
  /** Creation time in milliseconds since the epoch, by the server's clock. */
  createdAt: number;
  /** True if the stream has the configured replicas; an incomplete cluster cannot hold them yet. */
  isReplicated: boolean;
}

/**
 * Creates the stream if it is missing and updates the settings of an existing one, keeping its
 * messages. Several processes may call this concurrently. Throws a ForeignQueueError if the stream
 * belongs to another installation.
 */
export async function ensureStream(
  session: ConnectionSession,
  settings: StreamSettings,
  log: Log,
): Promise<EnsuredStream> {
  const { nc, jsm } = session;
  const replicas = settings.replicas ?? (nc.info?.cluster ? clusterReplicas : 1);
  const found = await orMissing(jsm.streams.info(settings.name), streamMissing);
  const owner = await settings.owner();
  const { config, created } =
    found ?? (await createStream(session, settings, { replicas, owner }, log));
  requireOwner(config, owner);
  const subjects = subjectsOf(settings);
  const description = describeStream(owner);
  const isCurrent =
    `${config.subjects}` === `${subjects}` &&
    config.description === description &&
    Object.entries(streamLimits).every(
      ([name, value]) => config[name as keyof typeof streamLimits] === value,
    );
  if (!isCurrent)
    await jsm.streams.update(settings.name, { ...streamLimits, subjects, description });
  const isReplicated =
    config.num_replicas === replicas ||
    (settings.replicas === undefined && config.num_replicas > replicas) ||
    (found !== null && (await changeReplicas(jsm, settings.name, replicas, log)));
  return { createdAt: Date.parse(created), isReplicated };
}

const clusterReplicas = 3;

/** The description carries the owner, because nats-server 2.9 has no metadata of streams. */
const describeStream = (owner: string) => `Gleaner: batches to process. Installation ${owner}`;

/**
 * Throws a ForeignQueueError if a stream belongs to another installation. A stream of an earlier
 * version belongs to none.
 */
function requireOwner(
  { name, description = '' }: Pick<StreamConfig, 'name' | 'description'>,
  owner: string,
) {
  const [, found = owner] = / Installation (\S+)$/.exec(description) ?? [];
  if (found !== owner) throw new ForeignQueueError(name, found, owner);
}

/** Checks the owner of the stream, if there is one. Throws a ForeignQueueError. */
export async function requireOwnStream(
  { jsm }: ConnectionSession,
  settings: StreamSettings,
): Promise<void> {
  const found = await orMissing(jsm.streams.info(settings.name), streamMissing);
  if (found !== null) requireOwner(found.config, await settings.owner());
}

const subjectsOf = ({ name }: StreamSettings): string[] => [formatSubject(name, '*', '*')];

/** Creates the stream, with one replica if the cluster is too small and no number is configured. */
async function createStream(
  session: ConnectionSession,
  settings: StreamSettings,
  { replicas, owner }: { replicas: number; owner: string },
  log: Log,
): Promise<StreamInfo> {
  const { nc, jsm } = session;
  try {
    const created = await jsm.streams.add({
      name: settings.name,
      description: describeStream(owner),
      subjects: subjectsOf(settings),
      retention: RetentionPolicy.Workqueue,
      storage: StorageType.File,
      num_replicas: replicas,
      ...streamLimits,
    });
    log.info({ stream: settings.name, replicas }, 'stream created');
    return created;
  } catch (error) {
    // Another process has just created it, with different settings or at the same time.
    if (isApiError(error, streamTaken) || isApiError(error, subjectsOverlap)) {
      const found = await orMissing(jsm.streams.info(settings.name), streamMissing);
      if (found !== null) return found;
      throw error;
    }
    // A cluster with enough servers that is still starting can hold the replicas soon.
    const isLarge = (nc.info?.connect_urls ?? []).length >= clusterReplicas;
    if (
      replicas === 1 ||
      settings.replicas !== undefined ||
      isLarge ||
      !isApiError(error, tooFewServers)
    )
      throw error;
    log.warn({ stream: settings.name }, 'cluster too small, stream created with one replica');
    return createStream(session, settings, { replicas: 1, owner }, log);
  }
}

/** Changes the number of replicas. Returns false if the cluster is too small. */
async function changeReplicas(
  jsm: JetStreamManager,
  stream: string,
  replicas: number,
  log: Log,
): Promise<boolean> {
  try {
    await jsm.streams.update(stream, { num_replicas: replicas });
    log.info({ stream, replicas }, 'stream replicas changed');
    return true;
  } catch (error) {
    log.debug({ stream, replicas, error: (error as Error).message }, 'stream replicas not changed');
    return false;
  }
}

/** Creates the consumer if it is missing and updates the settings of an existing one. */
export async function ensureConsumer(
  { jsm }: ConnectionSession,
  stream: string,
  { lane, market, concurrency, ackWaitMs }: ConsumerSettings,
): Promise<ConsumerInfo> {
  const name = formatConsumerName(lane, market);
  const limits = { max_ack_pending: concurrency, ack_wait: nanos(ackWaitMs) };
  const filter_subject = formatSubject(stream, lane, market);
  const add = () =>
    jsm.consumers.add(stream, {
      durable_name: name,
      filter_subject,
      ack_policy: AckPolicy.Explicit,
      ...limits,
    });
  const found = await orMissing(jsm.consumers.info(stream, name), consumerMissing);
  if (found === null) return add();
  const { config } = found;
  if (config.filter_subject !== filter_subject) {
    // Created for other subjects, which no message has.
    await orMissing(jsm.consumers.delete(stream, name), consumerMissing);
    return add();
  }
  if (config.max_ack_pending === limits.max_ack_pending && config.ack_wait === limits.ack_wait)
    return found;
  return jsm.consumers.update(stream, name, limits);
}

/**
 * Returns true if a publish was refused because the stream still has a message on the same subject.
 */
export function isHeld(error: unknown): boolean {
  return isApiError(error, storeRefused) && /per subject/.test(describeError(error));
}

/**
 * Returns true if the stream, or the cluster, has no leader or not enough servers at the moment.
 */
export function isElection(error: unknown): boolean {
  return electionCodes.some((code) => isApiError(error, code));
}

/** Returns the server's description of an API error, or the message of any other error. */
export function describeError(error: unknown): string {
  return (error instanceof NatsError && error.api_error?.description) || (error as Error).message;
}

/** Returns true if the error is a JetStream API error with this code. */
function isApiError(error: unknown, code: number): boolean {
  return error instanceof NatsError && error.api_error?.err_code === code;
}

/** Returns the state of a consumer, or null if it or its stream does not exist. */
export async function readConsumer(
  { jsm }: ConnectionSession,
  stream: string,
  name: string,
): Promise<ConsumerInfo | null> {
  return orMissing(orMissing(jsm.consumers.info(stream, name), consumerMissing), streamMissing);
}

async function orMissing<T>(response: Promise<T>, code: number): Promise<T | null> {
  try {
    return await response;
  } catch (error) {
    if (isApiError(error, code)) return null;
    throw error;
  }
}
