import { describe, expect, test } from 'vitest';
import { createPortShares, type LongRequest, type PortShares } from './port-shares.ts';

/** Accepts requests of an account that may last long, as a port does. */
function begin(
  shares: PortShares,
  account: string,
  count: number,
  kind: 'wait' | 'download' = 'wait',
) {
  return Array.from({ length: count }, () => {
    const end = shares.accept();
    const request: LongRequest = shares.begin(account, kind);
    const close = () => {
      request.end();
      end();
    };
    return { early: request.early, close };
  });
}

const endedEarly = (requests: readonly { early: AbortSignal }[]) =>
  requests.filter(({ early }) => early.aborted).length;

describe('createPortShares()', () => {
  test('limits the requests of one kind of an account to a tenth of the port', () => {
    const shares = createPortShares(100);
    const waits = begin(shares, 'ana', 10);
    expect(() => shares.begin('ana', 'wait')).toThrow(
      'More than 10 waiting requests of the account',
    );
    begin(shares, 'ana', 10, 'download');
    begin(shares, 'ben', 10);
    waits[3]!.close();
    begin(shares, 'ana', 1);
    expect(() => shares.begin('ana', 'wait')).toThrow(
      expect.objectContaining({ code: 'rate_limited', retryAfterMs: 1_000 }),
    );
  });

  test('spreads the responses to refused requests, so that clients do not repeat them all at once', () => {
    const shares = createPortShares(100);
    expect(shares.delayRefusal(1_000)).toBe(0);
    const delays = Array.from({ length: 400 }, () => shares.delayRefusal(1_000));
    expect(delays.slice(0, 3)).toEqual([2.5, 5, 7.5]);
    expect(delays.at(-1)).toBe(1_000);
    expect(shares.delayRefusal(1_500)).toBe(502.5);
    expect(shares.delayRefusal(5_000)).toBe(0);
  });

  test('ends the oldest waits early while more than three quarters of the port are in use', () => {
    const shares = createPortShares(100);
    const accounts = Array.from({ length: 7 }, (_, index) => begin(shares, `user ${index}`, 10));
    const others = begin(shares, 'downloads', 5, 'download');
    expect([endedEarly(accounts.flat()), shares.isFilling]).toEqual([0, false]);
    const further = begin(shares, 'further', 3);
    expect(endedEarly(accounts[0]!)).toBe(3);
    expect(endedEarly([...accounts.slice(1).flat(), ...others, ...further])).toBe(0);
    for (const { close } of accounts[0]!.slice(0, 3)) close();
    const short = shares.accept();
    expect(endedEarly(accounts[0]!)).toBe(4);
    short();
    for (const { close } of accounts.flat().slice(3)) close();
    expect(shares.isFilling).toBe(false);
    expect(endedEarly(begin(shares, 'again', 10))).toBe(0);
  });

  test('keeps a part of the port for callers that are not admitted yet', () => {
    const shares = createPortShares(40);
    const refused = [];
    for (let account = 0; account < 12; account += 1) {
      try {
        begin(shares, `user ${account}`, 4, 'download');
      } catch (error) {
        refused.push((error as Error).message);
      }
    }
    expect(refused).toEqual([
      'The service has too many requests in progress',
      expect.any(String),
      expect.any(String),
    ]);
  });

  test('gives every account a request, however few the port serves', () => {
    const shares = createPortShares(1);
    begin(shares, 'ana', 1);
    expect(() => shares.begin('ana', 'wait')).toThrow();
  });
});
