import { create, type Message } from '@bufbuild/protobuf';
import { HttpBodySchema } from '../../../gen/google/api/httpbody_pb.ts';
import { begin } from '../../base/begin.ts';

/** Size at which a message is sent, in bytes; its last part may exceed it. */
const messageBytes = 64 * 1024;

/**
 * Yields parts of a text as google.api.HttpBody messages of at most 256 KiB. Reads further parts
 * only after the reader has taken the message. The first message has the media type and no bytes,
 * so that an empty text is a response too. It follows the first part, so that an error before that
 * can be a response. Closes the parts if the reader stops.
 */
export async function* streamText(
  contentType: string,
  parts: AsyncIterable<string | Uint8Array>,
): AsyncGenerator<Message> {
  const begun = await begin(parts);
  try {
    yield create(HttpBodySchema, { contentType });
    yield* messagesOf(begun);
  } finally {
    await begun.return();
  }
}

async function* messagesOf(parts: AsyncIterable<string | Uint8Array>): AsyncGenerator<Message> {
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
