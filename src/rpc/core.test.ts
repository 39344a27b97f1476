import { beforeEach, expect, test } from 'vitest';
import { AccountService } from '../../gen/gleaner/account/v1/account_pb.ts';
import { OperatorService } from '../../gen/gleaner/operator/v1/operator_pb.ts';
import { Health } from '../../gen/health/v1/health_pb.ts';
import { openCore, type TestCore } from '../../test/support/core.ts';
import { type JobsBench, openJobs } from '../../test/support/jobs.ts';
import { resolveOffers } from '../jobs/offers.ts';
import { kinds } from '../kinds/list.ts';
import { markets } from '../markets/list.ts';
import { createCore } from './core.ts';
import { services } from './services.ts';

let bench: JobsBench;
let core: TestCore;
beforeEach(async () => {
  bench = await openJobs();
  core = await openCore(bench.context);
  return () => bench.close();
});

test('every method of every service has a handler; one without stops the start', () => {
  const offers = resolveOffers(services, kinds, markets);
  expect(() => createCore({ ...bench.context, offers }, services)).not.toThrow();
  expect(() => createCore(bench.context, [Health])).toThrow('grpc.health.v1.Health.Check has no handler');
});

test('a token that no page gave is a problem of page_token, where the field stands in the request', async () => {
  const account = AccountService.method;
  const operator = OperatorService.method;
  const { caller } = await core.keyOf(await bench.createUser(0));
  const problemAt = (place: string) => ({
    code: 'invalid',
    problems: [expect.objectContaining({ loc: [place, 'page_token'], type: 'value_error' })],
  });
  for (const pageToken of ['x', 'MTIz', '%00', '-1', 'é', 'A'.repeat(5_000)]) {
    for (const list of [account.listLedgerEntries, account.listDeliveries])
      await expect(caller.call(list, { pageToken }), pageToken).rejects.toMatchObject(problemAt('query'));
    for (const list of [
      operator.listUsers,
      operator.listJobs,
      operator.listLedgerEntries,
      operator.listDeliveries,
    ])
      await expect(core.operator.call(list, { pageToken }), pageToken).rejects.toMatchObject(
        problemAt('body'),
      );
  }
});

test('a token made up after the form of one leads to a place, or is refused; nothing breaks', async () => {
  const operator = OperatorService.method;
  const places = ['9999999999999999-x', '0-', '0.000000001-\u0000', '12-😀', '12-\ud800', "5-' OR 1=1 --"];
  for (const place of places) {
    const pageToken = Buffer.from(place).toString('base64url');
    for (const list of [
      operator.listUsers,
      operator.listJobs,
      operator.listLedgerEntries,
      operator.listDeliveries,
    ]) {
      const listed = core.operator.call(list, { pageToken });
      const code = await listed.then(
        () => 'ok',
        (error) => error.code,
      );
      expect(code, `${list.name} ${place}`).toBe(place === '0-' ? 'invalid' : 'ok');
    }
  }
});
