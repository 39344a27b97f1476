import { text } from './matchers.ts';
import type { Case, Endpoint } from './table.ts';

/** A job that does not exist, and a task. */
const nowhere = { uuid: '00000000-0000-4000-8000-000000000000', integer: '99999999999' };

/** ErrorResponse of the interface. */
export const errorAnswer = { detail: text, code: text, request_id: text };

/** The error cases that an endpoint has whatever it is about (interface, "Errors" and "Authentication"). */
export function errorCases(endpoint: Endpoint): Case[] {
  return [...tokenCases(endpoint), ...methodCases(endpoint), ...namedCases(endpoint)];
}

function tokenCases({ method, cases: [good] }: Endpoint): Case[] {
  if (method === null) return [];
  const unauthenticated = (title: string, request: Partial<Case>): Case => ({
    ...good,
    title,
    ...request,
    status: 401,
    answer: errorAnswer,
    answerHeaders: { 'www-authenticate': 'Bearer' },
  });
  return [
    unauthenticated('without a token', { caller: 'nobody' }),
    unauthenticated('with a token that is not valid', { caller: 'unknown' }),
    unauthenticated('with a token that was revoked', { caller: 'revoked' }),
    unauthenticated('with another scheme', { caller: 'nobody', headers: { authorization: 'Basic dTpw' } }),
    {
      ...good,
      title: "with an operator's key",
      caller: 'operator',
      status: 403,
      answer: errorAnswer,
      answerHeaders: {},
    },
  ];
}

function methodCases({ verb, verbs = [verb], cases: [good] }: Endpoint): Case[] {
  const allow = [...verbs, ...(verbs.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
  const { params = {} } = good;
  const others = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter(
    (other) => !verbs.some((one) => one === other),
  );
  return [
    ...others.map((other) => ({
      title: `${other} in its place`,
      verb: other,
      params,
      status: 405,
      answer: errorAnswer,
      answerHeaders: { allow },
      restOnly: true,
    })),
    {
      title: 'OPTIONS',
      verb: 'OPTIONS',
      params,
      status: 204,
      answerHeaders: { allow },
      restOnly: true,
    },
  ];
}

function namedCases({ names, cases: [good] }: Endpoint): Case[] {
  if (names === undefined) return [];
  const { param, id, foreign } = names;
  const asked = (title: string, value: string) => ({ title, params: { ...good.params, [param]: value } });
  const named = (title: string, value: string): Case => ({
    ...asked(title, value),
    status: 404,
    answer: errorAnswer,
  });
  const wrong = (title: string, value: string, restOnly = false): Case => ({
    ...asked(title, value),
    status: 422,
    problems: [[['path', param], id === 'uuid' ? 'uuid_parsing' : 'int_parsing']],
    restOnly,
  });
  return [
    named(`a ${param} that nobody has`, nowhere[id]),
    ...(foreign === undefined ? [] : [named(`a ${param} of another kind`, foreign)]),
    {
      ...named(`another user's ${param}`, good.params![param]!),
      caller: good.caller === 'other' ? 'user' : 'other',
    },
    ...(id === 'uuid'
      ? [wrong('no uuid', 'not-a-uuid'), wrong('a number for a uuid', '17')]
      : [
          named('the task 0', '0'),
          named('a negative task', '-1'),
          wrong('no integer', 'abc', true),
          wrong('a fraction', '1.5', true),
          wrong('a uuid for an integer', nowhere.uuid, true),
        ]),
  ];
}
