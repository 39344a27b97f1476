import {
  create,
  type DescMethod,
  type MessageInitShape,
  type MessageShape,
} from '@bufbuild/protobuf';
import { SubmitOptionsSchema } from '../../gen/gleaner/job/v1/submit_options_pb.ts';
import type { Principal } from '../../src/access/principal.ts';
import type { Call } from '../../src/api/services/handlers.ts';
import { Fault } from '../../src/contract/fault.ts';
import type { SubmitOptionValues } from '../../src/contract/submit-options.ts';
import type { Actors } from './actors.ts';
import type { World } from './world.ts';

/** Outcome of a call for its caller. `lost`: the connection broke, so the outcome is unknown. */
export type CallReply<M extends DescMethod> =
  | { end: 'answered'; message: MessageShape<M['output']> }
  | { end: 'refused'; fault: Fault }
  | { end: 'lost' };

/** A client that sends each call to a random live api process. */
export interface Caller {
  principal: Principal;
  call<M extends DescMethod>(
    method: M,
    request: MessageInitShape<M['input']>,
    idempotencyKey?: string,
    options?: SubmitOptionValues,
  ): Promise<CallReply<M>>;
}

/** Creates a caller with a name for the trace. */
export function createCaller(
  world: World,
  actors: Actors,
  name: string,
  principal: Principal,
): Caller {
  const { scheduler, random } = world;
  return {
    principal,
    call: (method, request, idempotencyKey, options) =>
      new Promise((resolve) => {
        const apis = actors.apis();
        if (apis.length === 0) {
          scheduler.after(100, { owner: null, run: () => resolve({ end: 'lost' }) });
          return;
        }
        const { process, core } = random.pick(apis);
        const description = `${name} ${method.name}${idempotencyKey ? ` ${idempotencyKey}` : ''}`;
        const reply = (text: string, value: CallReply<typeof method>) => {
          world.trace(`${description}: ${text}`);
          resolve(value);
        };
        process.onDeath(() => reply('lost', { end: 'lost' }));
        const call: Call = {
          principal,
          requestId: '',
          idempotencyKey,
          submitOptions: options && create(SubmitOptionsSchema, options),
          signal: new AbortController().signal,
          waitMs: 0,
          source: '',
          ifNoneMatch: undefined,
          responseHeaders: {},
        };
        world.trace(`${description} by ${process.name}`);
        const run = () =>
          core.unary(method, create(method.input, request), call).then(
            (message) =>
              process.alive && reply('answered', { end: 'answered', message: message as never }),
            (error) =>
              process.alive &&
              reply(`${error.message}`, { end: 'refused', fault: Fault.from(error) }),
          );
        scheduler.after(random.integer(0, 50), { owner: process, run: () => void run() });
      }),
  };
}

/**
 * Repeats a call, which has an idempotency key or changes nothing, until it is answered or
 * permanently refused.
 */
export async function callUntilAnswered<M extends DescMethod>(
  world: World,
  caller: Caller,
  method: M,
  request: MessageInitShape<M['input']>,
  key: string | undefined,
  options?: SubmitOptionValues,
): Promise<CallReply<M>> {
  for (;;) {
    const reply = await caller.call(method, request, key, options);
    if (reply.end === 'answered') return reply;
    if (reply.end === 'refused') {
      const { code, message } = reply.fault;
      const isTemporary =
        code === 'unavailable' || (code === 'conflict' && message.includes('is in progress'));
      if (!isTemporary) return reply;
    }
    await world.scheduler.sleep(world.random.integer(500, 30_000));
  }
}
