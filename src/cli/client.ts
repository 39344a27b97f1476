import { createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { AccountService } from '../../gen/gleaner/account/v1/account_pb.ts';
import { OperatorService } from '../../gen/gleaner/operator/v1/operator_pb.ts';
import { Fault } from '../base/fault.ts';

/** Calls a running service in the name of one API key, over Connect. */
export function connectClients(url: string, key: string) {
  const transport = createConnectTransport({
    baseUrl: url,
    httpVersion: '1.1',
    useBinaryFormat: false,
    interceptors: [
      (next) => (request) => {
        request.header.set('authorization', `Bearer ${key}`);
        return next(request);
      },
    ],
  });
  return {
    operators: createClient(OperatorService, transport),
    accounts: createClient(AccountService, transport),
  };
}

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
