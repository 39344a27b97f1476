import type { OriginReply } from '../origin.ts';

function json(status: number, value: unknown): OriginReply {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) };
}

function redirect(location: string): OriginReply {
  return { status: 302, headers: { location }, body: '' };
}

const robot = 90309999;
const named = {
  is_customized: false,
  is_login: false,
  action_type: 2,
  error: robot,
  tracking_id: 'a0b1c2d3-0000',
};
const numbered = { 0: 2, 1: 'a0b1c2d3-0000', 2: true, 3: robot, 5: false, error: robot };

/** Response for an item that does not exist. */
export const notFound = json(200, {
  bff_meta: null,
  error: 266900002,
  error_msg: null,
  data: null,
});

/** Response to a robot; its keys are names. */
export const blockedByName = json(200, named);

/** Responses to subjects with these last digits, for any request (README.md). */
export const refusals: Readonly<Record<string, OriginReply>> = {
  800: notFound,
  807: blockedByName,
  808: json(200, numbered),
  809: json(403, named),
  810: redirect('/verify/traffic/error?home_url=%2F'),
  811: redirect('/buyer/login?next=%2F'),
  812: {
    status: 200,
    headers: { 'content-type': 'text/html; charset=utf-8' },
    body: '<!doctype html><title>Verify</title><form action="/verify/captcha"><p>Slide to fit the puzzle.</p></form>',
  },
  813: json(200, { error: 10005, error_msg: 'This API is deprecated.' }),
  814: json(200, { error: 5, error_msg: 'internal', data: null }),
};
