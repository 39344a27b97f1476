import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { Exchange } from '../request-context.ts';
import type { Encoder } from './content-encoding.ts';

/**
 * Sends the body of a response whose head is set, and ends it. Rejects when the body fails or the
 * client disconnects; the caller then aborts the response. pipeline() would close the connection
 * itself, as after a complete response.
 */
export async function writeBody(
  { response, signal }: Pick<Exchange, 'response' | 'signal'>,
  body: AsyncIterable<Uint8Array>,
  encoder?: Encoder,
): Promise<void> {
  const sink: Writable = encoder ?? response;
  encoder?.pipe(response);
  try {
    for await (const bytes of body) {
      if (response.destroyed) return;
      if (!sink.write(bytes)) await once(sink, 'drain', { signal });
    }
    sink.end();
  } finally {
    if (!sink.writableEnded) encoder?.destroy();
  }
}
