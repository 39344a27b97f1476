import { createClient, createRouterTransport } from '@connectrpc/connect';
import { describe, expect, test } from 'vitest';
import { JobService } from '../../../../gen/gleaner/job/v1/job_pb.ts';
import { OperatorService } from '../../../../gen/gleaner/operator/v1/operator_pb.ts';
import { endpointOf } from '../../../../src/contract/endpoint.ts';
import { services } from '../../../../src/contract/services.ts';
import { createSendOnce, isRead } from './send-once.ts';

/** Creates clients of a service that records the idempotency keys it receives. */
function createService() {
  const keys: (string | null)[] = [];
  const state = { isResponseLost: false, now: 0 };
  const receive = ({ requestHeader }: { requestHeader: Headers }) => {
    keys.push(requestHeader.get('idempotency-key'));
    if (state.isResponseLost) throw new TypeError('Failed to fetch');
    return {};
  };
  const transport = createRouterTransport(
    ({ rpc }) => {
      rpc(OperatorService.method.grantCredits, (_request, context) => receive(context));
      rpc(JobService.method.getJob, (_request, context) => receive(context));
    },
    { transport: { interceptors: [createSendOnce(() => state.now)] } },
  );
  const operator = createClient(OperatorService, transport);
  const jobs = createClient(JobService, transport);
  return { keys, state, operator, jobs };
}

const grant = { userId: 'u', amount: 5n, note: 'May' };

describe('createSendOnce()', () => {
  test('repeats a call whose response was lost with its key, and the next one with another', async () => {
    const { keys, state, operator } = createService();
    state.isResponseLost = true;
    await expect(operator.grantCredits(grant)).rejects.toThrow();
    await expect(operator.grantCredits(grant)).rejects.toThrow();
    state.isResponseLost = false;
    await operator.grantCredits(grant);
    await operator.grantCredits(grant);
    const [first, second, third, fourth] = keys;
    expect(first).toMatch(/^[0-9a-f]{32}$/);
    expect([second, third]).toEqual([first, first]);
    expect(fourth).not.toBe(first);
  });

  test('takes another request, or the same one later, for another call', async () => {
    const { keys, state, operator } = createService();
    state.isResponseLost = true;
    await expect(operator.grantCredits(grant)).rejects.toThrow();
    await expect(operator.grantCredits({ ...grant, amount: 6n })).rejects.toThrow();
    state.now += 5 * 60_000 + 1;
    await expect(operator.grantCredits(grant)).rejects.toThrow();
    expect(new Set(keys).size).toBe(3);
  });

  test('sends no key with a read', async () => {
    const { keys, jobs } = createService();
    await jobs.getJob({ jobId: 'j' });
    expect(keys).toEqual([null]);
  });
});

test('isRead() agrees with the HTTP verbs of all methods', () => {
  const methods = services.flatMap((service) => service.methods);
  const served = methods.filter((method) => endpointOf(method) !== undefined);
  expect(served.length).toBeGreaterThan(90);
  const different = served.filter(
    (method) => isRead(method) !== (endpointOf(method)!.verb === 'GET'),
  );
  expect(different.map(({ name }) => name)).toEqual([]);
});
