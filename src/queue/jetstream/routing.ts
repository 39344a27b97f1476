import type { Clock } from '../../base/clock.ts';
import { repeat } from '../../base/due-work.ts';
import type { PlaceOf, Queue } from '../queue.ts';
import { type JetStreamConnection, unreachable } from './connection.ts';
import { handOver, serveMember } from './hand-over.ts';
import { joinMembers, type Members, retryMs } from './members.ts';
import type { JetStreamTiming } from './timing.ts';

type Handle = Parameters<Queue['consume']>[3];

/** The messages of a consumer, on their way to the owners of their places. */
interface Route {
  /** Handles a message here, or hands it to an owner. */
  handle: Handle;
  /**
   * Hands over no more, and resolves when the messages that others handed to this process have
   * ended.
   */
  stop(): Promise<void>;
}

/** Routes of the consumers of a process. */
export interface Routing {
  open(lane: string, market: string, handle: Handle): Route;
}

/** Options for createRouting(). */
export interface RoutingOptions {
  connection: JetStreamConnection;
  /** Name of the stream and first token of the subjects. */
  name: string;
  placeOf: PlaceOf;
  timing: JetStreamTiming;
  clock: Clock;
}

/** Membership of a process that consumes. */
interface Membership {
  members: Members;
  leave(): void;
}

/** Creates the routes of a process. It is a member while at least one route is open. */
export function createRouting({
  connection,
  name,
  placeOf,
  timing,
  clock,
}: RoutingOptions): Routing {
  const prefix = `${name}.member`;
  const handlers = new Map<string, Handle>();
  let membership: Membership | null = null;

  const join = (): Membership => {
    const members = joinMembers({
      connection,
      subject: `${name}.members`,
      timing,
      clock,
    });
    const leaving = new AbortController();
    const handlerOf = (lane: string, market: string) => handlers.get(`${lane}.${market}`);
    const serve = () => serveMember({ connection, prefix, members }, handlerOf, leaving.signal);
    void repeat(serve, { clock, intervalMs: retryMs, onError: () => {} }, leaving.signal);
    return {
      members,
      leave: () => {
        leaving.abort(unreachable());
        members.leave();
      },
    };
  };

  return {
    open(lane, market, handle) {
      const key = `${lane}.${market}`;
      const stopping = new AbortController();
      const handed = new Set<Promise<void>>();
      handlers.set(key, (message, extend) => {
        const run = handle(message, extend).finally(() => handed.delete(run));
        handed.add(run);
        return run;
      });
      membership ??= join();
      const options = {
        connection,
        prefix,
        members: membership.members,
        timing,
        clock,
      };
      return {
        handle: handOver(options, placeOf, handle, stopping.signal),
        async stop() {
          stopping.abort(unreachable());
          handlers.delete(key);
          await Promise.allSettled(handed);
          if (handlers.size > 0) return;
          membership?.leave();
          membership = null;
        },
      };
    },
  };
}
