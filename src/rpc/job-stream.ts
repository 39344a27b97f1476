import { create, type Message } from '@bufbuild/protobuf';
import { HttpBodySchema } from '../../gen/google/api/httpbody_pb.ts';

/** Bytes that a message holds before it goes out; one part more may make it larger. */
const messageBytes = 64 * 1024;

/**
 * Sends parts of a text as messages google.api.HttpBody, some at a time and never more than 256 KiB in one:
 * the next parts are asked for once the reader has taken what is there. The first message has the media type
 * and no bytes, so that a text without a line is an answer, too.
 */
export async function* streamText(
  contentType: string,
  parts: AsyncIterable<string | Uint8Array>,
): AsyncGenerator<Message> {
  yield create(HttpBodySchema, { contentType });
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  const take = () => {
    const data = Buffer.concat(waiting);
    waiting = [];
    bytes = 0;
    return data;
  };
  for await (const part of parts) {
    const next = typeof part === 'string' ? Buffer.from(part) : part;
    waiting.push(next);
    bytes += next.length;
    if (bytes >= messageBytes) yield* cut(take());
  }
  if (bytes > 0) yield* cut(take());
}

function* cut(data: Uint8Array): Generator<Message> {
  for (let at = 0; at < data.length; at += 4 * messageBytes)
    yield create(HttpBodySchema, { data: data.subarray(at, at + 4 * messageBytes) });
}
