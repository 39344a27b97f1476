import { describe, expect, test } from 'vitest';
import { Fault, type FaultCode, faultCodes } from '../../src/contract/fault.ts';
import { errorResponse } from './errors.ts';

const requestId = 'request-7';
const responseOf = (code: FaultCode, details: ConstructorParameters<typeof Fault>[2] = {}) => {
  const { status, headers, body } = errorResponse(
    new Fault(code, 'The reason', details),
    requestId,
  );
  return { status, headers, body: JSON.parse(body) };
};

describe('errorResponse()', () => {
  test('maps client errors to 4xx, and failed pages and units to 502 or 409', () => {
    const codes = Object.keys(faultCodes) as FaultCode[];
    const byStatus = Object.groupBy(codes, (code) => responseOf(code).status);
    const { 502: unreachable, ...others } = byStatus;
    expect(others).toEqual({
      400: ['malformed'],
      401: ['unauthenticated'],
      402: ['insufficient_credits', 'max_credits_exceeded'],
      403: ['forbidden', 'link_invalid'],
      404: ['not_found'],
      409: ['conflict', 'terminated', 'rejected'],
      410: ['results_deleted'],
      413: ['too_large'],
      415: ['unsupported_media'],
      422: ['invalid'],
      429: ['rate_limited'],
      500: ['internal'],
      503: ['starting', 'disk_full'],
    });
    expect(unreachable).toEqual(
      expect.arrayContaining(['unavailable', 'page_blocked', 'not_queued']),
    );
  });

  test('sends the message of a fault as the detail', () => {
    expect(responseOf('conflict')).toEqual({
      status: 409,
      headers: {},
      body: { detail: 'The reason', code: 'conflict', request_id: 'request-7' },
    });
  });

  test('hides the message of an internal fault and names the request', () => {
    expect(responseOf('internal').body).toEqual({
      detail: 'Internal error; request id request-7',
      code: 'internal',
      request_id: 'request-7',
    });
  });

  test('sends WWW-Authenticate with 401 only', () => {
    expect(responseOf('unauthenticated').headers).toEqual({ 'www-authenticate': 'Bearer' });
    expect(responseOf('forbidden').headers).toEqual({});
  });

  test.each([
    [0, '1'],
    [999, '1'],
    [1000, '1'],
    [1001, '2'],
  ])('rounds a wait of %i ms up to %s seconds', (retryAfterMs, seconds) => {
    expect(responseOf('rate_limited', { retryAfterMs }).headers).toEqual({
      'retry-after': seconds,
    });
  });

  test('sends the headers of a fault', () => {
    expect(responseOf('rate_limited', { headers: { ratelimit: 'r=0' } }).headers).toEqual({
      ratelimit: 'r=0',
    });
  });

  test('sends the missing credits', () => {
    const { body } = responseOf('insufficient_credits', { quota: { required: 30, current: 25 } });
    expect(body).toMatchObject({ detail: 'The reason', required: 30, current: 25, shortfall: 5 });
    expect(
      responseOf('max_credits_exceeded', { quota: { required: 30, current: 25 } }).body,
    ).toMatchObject({
      code: 'max_credits_exceeded',
      shortfall: 5,
    });
    expect(responseOf('insufficient_credits').body).toEqual({
      code: 'insufficient_credits',
      request_id: 'request-7',
      detail: 'The reason',
      required: 0,
      current: 0,
      shortfall: 0,
    });
  });

  test('lists the problems of an invalid request, or one problem of the whole body', () => {
    const problem = { loc: ['body', 'urls', 1], msg: 'No URL', type: 'url_parsing' };
    expect(responseOf('invalid', { problems: [problem] }).body).toEqual({
      detail: [problem],
      code: 'invalid',
      request_id: requestId,
    });
    expect(responseOf('invalid').body).toEqual({
      detail: [{ loc: ['body'], msg: 'The reason', type: 'value_error' }],
      code: 'invalid',
      request_id: requestId,
    });
  });
});
