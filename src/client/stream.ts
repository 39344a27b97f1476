import { GleanerError } from './error.ts';
import { reasonOf } from './transport.ts';

/** An answer that comes as a stream of bytes. */
export interface ByteStream extends AsyncIterable<Uint8Array> {
  /** Media type: `application/x-ndjson`, `text/csv`. */
  readonly contentType: string;
  /** Its lines, without their ends. */
  lines(): AsyncIterable<string>;
}

/** The body of an answer as it comes. Reading on throws a GleanerError when the connection breaks. */
export function byteStream(response: Response): ByteStream {
  return {
    contentType: response.headers.get('content-type') ?? 'application/octet-stream',
    [Symbol.asyncIterator]: () => chunks(response),
    lines: () => lines(chunks(response)),
  };
}

async function* chunks(response: Response): AsyncGenerator<Uint8Array> {
  if (response.body === null) return;
  // Browsers' streams are read by a reader; not all of them can be iterated.
  const reader = response.body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error: Error) => {
        if (error.name === 'AbortError') throw error;
        throw new GleanerError({
          status: 0,
          detail: `the connection broke: ${reasonOf(error)}`,
          cause: error,
        });
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
  let rest = '';
  for await (const chunk of bytes) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = parts.pop()!;
    yield* parts;
  }
  rest += decoder.decode();
  if (rest !== '') yield rest;
}
