import type { Msg } from 'nats';
import { z } from 'zod';
import type { Clock } from '../../base/clock.ts';
import { repeat } from '../../base/due-work.ts';
import { newId } from '../../base/id.ts';
import { createOwners, type Owners } from '../queue.ts';
import type { JetStreamConnection } from './connection.ts';
import { readJson } from './message.ts';
import type { JetStreamTiming } from './timing.ts';

/** Delay before a process subscribes again, in milliseconds. */
export const retryMs = 100;

/** The consuming processes that are known to run, and the places that they own. */
export interface Members {
  /** Id of this process, which is always a member. */
  readonly self: string;
  readonly ownersOf: Owners['of'];
  /** Returns a signal that aborts when a member is gone. Null if it is no member. */
  presenceOf(id: string): AbortSignal | null;
  /** Removes a member that does not respond, until it is heard again. */
  remove(id: string): void;
  /** Tells the others that this process consumes no more. */
  leave(): void;
}

/** Options for joinMembers(). */
export interface MembersOptions {
  connection: JetStreamConnection;
  /** Subject on which members report that they run. */
  subject: string;
  timing: Pick<JetStreamTiming, 'presenceMs' | 'absentMs'>;
  clock: Clock;
}

/** Report of a member. `joined`: it asks the others to report, too. */
const reportSchema = z.object({ id: z.string(), event: z.enum(['joined', 'here', 'left']) });

type Report = z.infer<typeof reportSchema>;

/**
 * Reports this process to the other consuming processes, and learns of them. What they believe may
 * differ for some seconds: messages are then handled by several owners of a place, within the
 * limits of its origin.
 */
export function joinMembers({ connection, subject, timing, clock }: MembersOptions): Members {
  const self = newId();
  const members = new Map<string, { heardAt: number; presence: AbortController }>();
  const owners = createOwners();
  const leaving = new AbortController();
  const rank = () => owners.use([self, ...members.keys()]);
  rank();

  const report = (event: Report['event']) => {
    try {
      connection.current()?.nc.publish(subject, JSON.stringify({ id: self, event }));
    } catch {
      // The connection is lost. The others notice it, too.
    }
  };
  const remove = (id: string) => {
    members.get(id)?.presence.abort();
    if (members.delete(id)) rank();
  };
  const hear = ({ id, event }: Report) => {
    if (id === self) return;
    if (event === 'left') return remove(id);
    const member = members.get(id);
    members.set(id, {
      presence: member?.presence ?? new AbortController(),
      heardAt: clock.steady(),
    });
    if (member === undefined) rank();
    if (event === 'joined') report('here');
  };
  const removeAbsent = () => {
    const earliest = clock.steady() - timing.absentMs;
    for (const [id, { heardAt }] of members) if (heardAt < earliest) remove(id);
  };

  const follow = async (): Promise<void> => {
    const { nc, ended } = await connection.ready(leaving.signal);
    const callback = (error: unknown, message: Msg) => {
      const heard = error === null ? readJson(reportSchema, message.data) : null;
      if (heard !== null) hear(heard);
    };
    const subscription = nc.subscribe(subject, { callback });
    const signal = AbortSignal.any([ended, leaving.signal]);
    report('joined');
    while (!signal.aborted) {
      await clock.sleep(timing.presenceMs, signal).catch(() => {});
      if (signal.aborted) break;
      report('here');
      removeAbsent();
    }
    subscription.unsubscribe();
  };
  void repeat(follow, { clock, intervalMs: retryMs, onError: () => {} }, leaving.signal);

  return {
    self,
    ownersOf: owners.of,
    presenceOf: (id) => members.get(id)?.presence.signal ?? null,
    remove,
    leave() {
      leaving.abort(new Error('the process consumes no more'));
      report('left');
    },
  };
}
