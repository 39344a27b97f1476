import { headers as createHeaders, createInbox, type Msg } from 'nats';
import { z } from 'zod';
import { untilAborted } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { Fault, type FaultCode, faultCodes } from '../../contract/fault.ts';
import type { PlaceOf, Queue, QueueMessage } from '../queue.ts';
import { type JetStreamConnection, unreachable } from './connection.ts';
import type { Members } from './members.ts';
import { decode, encode, encodeHeaders, readJson } from './message.ts';
import type { JetStreamTiming } from './timing.ts';

type Handle = Parameters<Queue['consume']>[3];

/**
 * Response of an owner to a message that it was handed. `accepted` and `extended`: it works on it.
 * `refused`: it consumes no messages of this lane and market.
 */
const responseSchema = z.union([
  z.object({ state: z.enum(['accepted', 'extended', 'done', 'refused']) }),
  z.object({
    state: z.literal('failed'),
    code: z.enum(Object.keys(faultCodes) as [FaultCode, ...FaultCode[]]),
    message: z.string(),
  }),
]);

type Response = z.infer<typeof responseSchema>;

/** Header of a message whose last handler is gone. */
const takenOverHeader = 'gleaner-taken-over';

/** Options of messages that are handed over. */
export interface HandOverOptions {
  connection: JetStreamConnection;
  /** First tokens of the subjects of members. */
  prefix: string;
  members: Members;
  timing: Pick<JetStreamTiming, 'requestMs'>;
  clock: Clock;
}

const subjectOf = (prefix: string, member: string, lane: string, market: string) =>
  `${prefix}.${member}.${lane}.${market}`;

/**
 * Handles the messages that other members hand to this one, by the handler of their lane and
 * market, until the connection is lost or the signal aborts. Resolves then.
 */
export async function serveMember(
  { connection, prefix, members }: Pick<HandOverOptions, 'connection' | 'prefix' | 'members'>,
  handlerOf: (lane: string, market: string) => Handle | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { nc, ended } = await connection.ready(signal);
  const serve = async (request: Msg): Promise<void> => {
    const respond = (response: Response) => {
      if (!ended.aborted) request.respond(JSON.stringify(response));
    };
    const [lane, market] = request.subject.split('.').slice(-2) as [string, string];
    const decoded = decode(request, lane, market);
    const message = decoded && { ...decoded, isTakenOver: request.headers?.has(takenOverHeader) };
    const handle = handlerOf(lane, market);
    if (message === null || handle === undefined) return respond({ state: 'refused' });
    respond({ state: 'accepted' });
    try {
      await handle(message, () => respond({ state: 'extended' }));
      respond({ state: 'done' });
    } catch (error) {
      const { code, message: reason } = Fault.from(error);
      respond({ state: 'failed', code, message: reason });
    }
  };
  const callback = (error: unknown, request: Msg) => {
    if (error === null) void serve(request);
  };
  const subscription = nc.subscribe(subjectOf(prefix, members.self, '*', '*'), { callback });
  await untilAborted(AbortSignal.any([ended, signal]));
  subscription.unsubscribe();
}

/**
 * Returns a handler that hands each message to an owner of its place, if this process is none. A
 * member that does not respond is removed, and the next owner gets the message. The handler rejects
 * with the fault of the owner's, and with `unavailable` when the signal aborts or the connection is
 * lost.
 */
export function handOver(
  options: HandOverOptions,
  placeOf: PlaceOf,
  handle: Handle,
  signal: AbortSignal,
): Handle {
  const { members } = options;
  const ownersOf = (message: QueueMessage): readonly string[] => {
    const workPlace = placeOf(message);
    return workPlace === null ? [members.self] : members.ownersOf(workPlace);
  };
  let handedCount = 0;
  return async (delivery, extend) => {
    let message = delivery;
    for (;;) {
      const owners = ownersOf(message);
      if (owners.includes(members.self)) return handle(message, extend);
      handedCount += 1;
      const owner = owners[handedCount % owners.length]!;
      const end = await hand(options, owner, message, extend, signal);
      if (end === 'handled') return;
      members.remove(owner);
      if (end === 'gone') message = { ...message, isTakenOver: true };
    }
  };
}

/**
 * Result of a message that was handed to a member. `gone`: it accepted the message, and is not
 * heard now.
 */
type HandEnd = 'handled' | 'refused' | 'gone';

/** Hands a message to a member. Throws `unavailable` without a connection. */
async function hand(
  { connection, prefix, members, timing, clock }: HandOverOptions,
  owner: string,
  message: QueueMessage,
  extend: () => void,
  signal: AbortSignal,
): Promise<HandEnd> {
  const session = connection.current();
  if (session === null) throw unreachable();
  const { nc, ended } = session;
  const presence = members.presenceOf(owner);
  if (presence === null) return 'refused';
  const { promise, resolve, reject } = Promise.withResolvers<HandEnd>();
  const inbox = createInbox();
  const settled = new AbortController();
  const accepted = new AbortController();
  const receive = (response: Response) => {
    accepted.abort();
    if (response.state === 'extended') extend();
    if (response.state === 'done') resolve('handled');
    if (response.state === 'refused') resolve('refused');
    if (response.state === 'failed') reject(new Fault(response.code, response.message));
  };
  const callback = (error: unknown, { data, headers: status }: Msg) => {
    const response = error === null ? readJson(responseSchema, data) : null;
    // Without a subscriber, the server responds with a status only.
    if (response === null || status?.code === 503) resolve('refused');
    else receive(response);
  };
  const subscription = nc.subscribe(inbox, { callback });
  const listen = (source: AbortSignal, end: () => void) => {
    source.addEventListener('abort', end, { once: true, signal: settled.signal });
    if (source.aborted) end();
  };
  listen(presence, () => resolve(accepted.signal.aborted ? 'gone' : 'refused'));
  listen(signal, () => reject(signal.reason));
  listen(ended, () => reject(ended.reason));
  const headers = encodeHeaders(message) ?? createHeaders();
  if (message.isTakenOver) headers.set(takenOverHeader, 'true');
  const subject = subjectOf(prefix, owner, message.lane, message.market);
  nc.publish(subject, encode(message), { reply: inbox, headers });
  clock
    .sleep(timing.requestMs, AbortSignal.any([accepted.signal, settled.signal]))
    .then(() => resolve('refused'))
    .catch(() => {});
  try {
    return await promise;
  } finally {
    settled.abort();
    subscription.unsubscribe();
  }
}
