import { once } from 'node:events';
import type { Message } from '@bufbuild/protobuf';
import type { HttpBody } from '../gen/google/api/httpbody_pb.ts';
import { Fault } from '../src/base/fault.ts';
import type { Exchange } from './exchange.ts';

/**
 * Answers with a stream of google.api.HttpBody: the first message says the content type. A fault
 * before the first message is thrown; a later one breaks the connection, by the thrower's caller.
 */
export async function answerStream(
  exchange: Exchange,
  status: number,
  messages: AsyncIterable<Message>,
): Promise<void> {
  const { request, response } = exchange;
  let started = false;
  for await (const message of messages) {
    const { contentType, data } = message as HttpBody;
    if (!started) {
      started = true;
      response.statusCode = status;
      response.setHeader('content-type', contentType || 'application/octet-stream');
      response.setHeader('cache-control', 'no-store');
      if (request.method === 'HEAD') break;
    }
    if (response.destroyed) return;
    if (data.length > 0 && !response.write(data)) await once(response, 'drain', { signal: exchange.signal });
  }
  if (!started) throw new Fault('internal', 'a stream ended without a message');
  response.end();
}
