import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Engines, embedded } from '../support/engines/engines.ts';
import { until } from '../support/time/until.ts';
import { openSandboxFixture, type SandboxFixture } from './fixture.ts';

const path = '/v1/mktb/pdp/bulk/submit';
const pages = (...digits: string[]) => ({
  items: digits.map((end) => ({ shop_domain: 'toko-7', product_key: `barang-${end}` })),
});

/** Returns true if a process exists. */
function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('the process of the fake marketplaces', () => {
  let fixture: SandboxFixture;
  beforeEach(async () => {
    const engines = (await embedded.open()) as Engines;
    fixture = await openSandboxFixture(false, engines, {
      settings: { GLEANER_WORKERS: '1' },
      inProcess: false,
    });
  });
  afterEach(() => fixture.stop());

  const pids = () =>
    [...fixture.deployment.api.log().matchAll(/"sandboxPid":(\d+),"msg":"sandbox started"/g)].map(
      ([, pid]) => Number(pid),
    );
  const runs = async (digits: string) => {
    const id = await fixture.submit(fixture.tester, path, pages(digits));
    return fixture.ended(fixture.tester, id);
  };

  test('starts with the first test job, and ends with the service', async () => {
    const live = await fixture.submit(fixture.user, path, pages('123'));
    await fixture.ended(fixture.user, live);
    expect(pids()).toEqual([]);
    expect(await runs('123')).toMatchObject({ success: 1 });
    const [pid] = pids();
    expect(exists(pid!)).toBe(true);
    expect(await fixture.deployment.api.stop()).toBe(0);
    expect(exists(pid!)).toBe(false);
  });

  test('ends when the service is killed', async () => {
    await runs('123');
    const [pid] = pids();
    await fixture.deployment.api.kill();
    await until('the process ends', () => !exists(pid!) || undefined, { withinMs: 10_000 });
  });

  test('is started again after its end', async () => {
    await runs('123');
    const [first] = pids();
    process.kill(first!, 'SIGKILL');
    await until('the process ends', () => !exists(first!) || undefined, { withinMs: 10_000 });
    expect(await runs('124')).toMatchObject({ success: 1 });
    expect(pids()).toHaveLength(2);
    // The end of the process is no reason to read a live origin.
    expect(fixture.liveRequests()).toBe(0);
  });
});
