import { JobService } from '../../gen/gleaner/job/v1/job_pb.ts';
import { requiredRole, requiredScopes } from '../../src/contract/permission.ts';
import { text } from './matchers.ts';
import type { Case, Endpoint } from './table.ts';

/** Ids of a job and a task that do not exist. */
const nowhere = { uuid: '00000000-0000-4000-8000-000000000000', integer: '99999999999' };

/** Matches the body of an error response (docs/errors.md). */
export const errorResponse = { detail: text, code: text, request_id: text };

/**
 * Returns the error cases that every endpoint has: authentication, methods, and ids in the path.
 */
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
    response: errorResponse,
    responseHeaders: { 'www-authenticate': 'Bearer' },
  });
  return [
    unauthenticated('without a token', { caller: 'nobody' }),
    unauthenticated('with an invalid token', { caller: 'unknown' }),
    unauthenticated('with a revoked token', { caller: 'revoked' }),
    unauthenticated('with another scheme', {
      caller: 'nobody',
      headers: { authorization: 'Basic dTpw' },
    }),
    // Operators read and act on the jobs and schedules of every user by the same calls.
    ...(requiredRole(method) === null
      ? [
          {
            ...good,
            title: "with an operator's key",
            caller: 'operator' as const,
            status: 403,
            response: errorResponse,
            responseHeaders: {},
          },
        ]
      : []),
  ];
}

/** Returns a case per scope that the method needs, with a key that has the other scope only. */
function scopeCases({ method, cases: [good] }: Endpoint): Case[] {
  if (method === null) return [];
  const required = requiredScopes(method)!;
  const callers = { read: 'submitter', submit: 'reader' } as const;
  const words =
    required.length > 1 ? "the scopes 'read' and 'submit'" : `the scope '${required[0]}'`;
  return required.map((scope) => ({
    ...good,
    title: `without the scope ${scope}`,
    caller: callers[scope],
    status: 403,
    response: {
      detail: `This call needs a key with ${words}; this key has '${scope === 'read' ? 'submit' : 'read'}'.`,
      code: 'forbidden',
      request_id: text,
    },
    responseHeaders: {},
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
      response: errorResponse,
      responseHeaders: { allow },
      restOnly: true,
    })),
    {
      title: 'OPTIONS',
      verb: 'OPTIONS',
      params,
      status: 204,
      responseHeaders: { allow },
      restOnly: true,
    },
  ];
}

function namedCases({ method, names, cases: [good] }: Endpoint): Case[] {
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
    response: errorResponse,
  });
  // GetJob also accepts the number of a task.
  const isJobName = method === JobService.method.getJob;
  const typeOfUuid = isJobName ? 'string_pattern_mismatch' : 'uuid_parsing';
  const typeOfProblem = id === 'uuid' ? typeOfUuid : 'int_parsing';
  const wrong = (title: string, value: string, restOnly = false): Case => ({
    ...withId(title, value),
    status: 422,
    problems: [[['path', param], typeOfProblem]],
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
      ? [
          wrong('an id that is not a UUID', 'not-a-uuid'),
          ...(isJobName ? [] : [wrong('a number instead of a UUID', '17')]),
        ]
      : [
          named('the task 0', '0'),
          named('a negative task', '-1'),
          wrong('an id that is not an integer', 'abc', true),
          wrong('a fraction', '1.5', true),
          wrong('a UUID instead of an integer', nowhere.uuid, true),
        ]),
  ];
}
