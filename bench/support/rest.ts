import { Fault } from '../../src/contract/fault.ts';

/** REST client of a running service with a user's key. */
export interface RestClient {
  /**
   * Sends a request and returns the JSON response. Throws a Fault with its `detail` unless the
   * status is 2xx.
   */
  call(method: 'GET' | 'POST', path: string, body?: unknown): Promise<Record<string, unknown>>;
}

/** Creates a REST client. Its calls throw `unavailable` if the service is unreachable. */
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
      const payload = (await response.json()) as Record<string, unknown>;
      if (!response.ok)
        throw new Fault(
          'conflict',
          `${method} ${path}: ${response.status} ${JSON.stringify(payload.detail)}`,
        );
      return payload;
    },
  };
}
