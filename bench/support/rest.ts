import { Fault } from '../../src/base/fault.ts';

/** Calls REST paths of a running service in the name of one user's key. */
export interface RestClient {
  /** Sends a request and gives the JSON answer; a fault with the answer's `detail` for anything but 2xx. */
  call(method: 'GET' | 'POST', path: string, body?: unknown): Promise<Record<string, unknown>>;
}

/** Makes a REST client. Faults: `unavailable` when nothing answers. */
export function restClient(url: string, key: string): RestClient {
  return {
    async call(method, path, body) {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }).catch((error: Error) => {
        throw new Fault(
          'unavailable',
          `${url} does not answer: ${(error.cause as Error)?.message ?? error.message}`,
        );
      });
      const answer = (await response.json()) as Record<string, unknown>;
      if (!response.ok)
        throw new Fault('conflict', `${method} ${path}: ${response.status} ${JSON.stringify(answer.detail)}`);
      return answer;
    },
  };
}
