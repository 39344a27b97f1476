import type { HttpBody } from '../../gen/google/api/httpbody_pb.ts';
import { brokenConnection } from './error.ts';

/** Response that arrives as a stream of bytes. */
export interface ByteStream extends AsyncIterable<Uint8Array> {
  /** Media type: `application/x-ndjson`, `text/csv`. */
  readonly contentType: string;
  /** Returns the lines of the text, without line ends. */
  lines(): AsyncIterable<string>;
}

/**
 * Reads messages as a stream: the first one names the content type. Rejects with the error of the
 * first message.
 */
export async function byteStream(messages: AsyncIterable<HttpBody>): Promise<ByteStream> {
  const source = messages[Symbol.asyncIterator]();
  const first = await source.next();
  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      for (let next = first; !next.done; next = await source.next()) yield next.value.data;
    } finally {
      await source.return?.();
    }
  }
  return {
    contentType: (!first.done && first.value.contentType) || 'application/octet-stream',
    [Symbol.asyncIterator]: chunks,
    lines: () => lines(chunks()),
  };
}

/** Reads the body of a response. Throws a GleanerError when the connection breaks. */
export async function* chunksOf(response: Response): AsyncGenerator<Uint8Array> {
  if (response.body === null) return;
  // Streams of browsers are read by a reader; not all of them can be iterated.
  const reader = response.body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error: Error) => {
        throw error.name === 'AbortError' ? error : brokenConnection(error);
      });
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

async function* lines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let line = '';
  for await (const chunk of bytes) {
    const [first = '', ...others] = decoder.decode(chunk, { stream: true }).split('\n');
    line += first;
    for (const next of others) {
      yield line.endsWith('\r') ? line.slice(0, -1) : line;
      line = next;
    }
  }
  line += decoder.decode();
  if (line !== '') yield line;
}
