import type { Readable } from 'node:stream';

/**
 * Converts the errors that end a stream, such as a connection that is lost before the last byte. Returns the
 * stream.
 */
export function convertErrors(stream: Readable, convert: (error: Error) => Error): Readable {
  const destroy = stream._destroy;
  stream._destroy = (error, done) =>
    destroy.call(stream, error, (final) => done(final ? convert(final) : final));
  return stream;
}
