import { requiredScopes } from '../../src/contract/permission.ts';
import { text } from './matchers.ts';
import type { Case, Endpoint } from './table.ts';

/** Ids of a job and a task that do not exist. */
const nowhere = { uuid: '00000000-0000-4000-8000-000000000000', integer: '99999999999' };

/** Matches the body of an error response (docs/errors.md). */
export const errorAnswer = { detail: text, code: text, request_id: text };

/** Returns the error cases that every endpoint has: authentication, methods, and ids in the path. */
export function errorCases(endpoint: Endpoint): Case[] {
  return [
    ...tokenCases(endpoint),
    ...scopeCases(endpoint),
    ...methodCases(endpoint),
    ...namedCases(endpoint),
  ];
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
    unauthenticated('with an invalid token', { caller: 'unknown' }),
    unauthenticated('with a revoked token', { caller: 'revoked' }),
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

/** Returns a case per scope that the method needs, with a key that has the other scope only. */
function scopeCases({ method, cases: [good] }: Endpoint): Case[] {
  if (method === null) return [];
  const required = requiredScopes(method)!;
  const callers = { read: 'submitter', submit: 'reader' } as const;
  const words = required.length > 1 ? "the scopes 'read' and 'submit'" : `the scope '${required[0]}'`;
  return required.map((scope) => ({
    ...good,
    title: `without the scope ${scope}`,
    caller: callers[scope],
    status: 403,
    answer: {
      detail: `This call needs a key with ${words}; this key has '${scope === 'read' ? 'submit' : 'read'}'.`,
      code: 'forbidden',
      request_id: text,
    },
    answerHeaders: {},
  }));
}

function methodCases({ verb, verbs = [verb], cases: [good] }: Endpoint): Case[] {
  const allow = [...verbs, ...(verbs.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
  const { params = {} } = good;
  const others = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter(
    (other) => !verbs.some((one) => one === other),
  );
  return [
    ...others.map((other) => ({
      title: `${other} instead`,
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
  const withId = (title: string, value: string) => ({
    title,
    params: { ...good.params, [param]: value },
    ...(good.body === undefined ? {} : { body: good.body }),
  });
  const named = (title: string, value: string): Case => ({
    ...withId(title, value),
    status: 404,
    answer: errorAnswer,
  });
  const wrong = (title: string, value: string, restOnly = false): Case => ({
    ...withId(title, value),
    status: 422,
    problems: [[['path', param], id === 'uuid' ? 'uuid_parsing' : 'int_parsing']],
    restOnly,
  });
  return [
    named(`an unknown ${param}`, nowhere[id]),
    ...(foreign === undefined ? [] : [named(`a ${param} of another kind`, foreign)]),
    {
      ...named(`another user's ${param}`, good.params![param]!),
      caller: good.caller === 'other' ? 'user' : 'other',
    },
    ...(id === 'uuid'
      ? [wrong('an id that is not a UUID', 'not-a-uuid'), wrong('a number instead of a UUID', '17')]
      : [
          named('the task 0', '0'),
          named('a negative task', '-1'),
          wrong('an id that is not an integer', 'abc', true),
          wrong('a fraction', '1.5', true),
          wrong('a UUID instead of an integer', nowhere.uuid, true),
        ]),
  ];
}
