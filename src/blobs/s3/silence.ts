import type { IncomingMessage } from 'node:http';
import { type Readable, Transform, type TransformCallback } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';

/**
 * Ends the response of a request whose next bytes do not arrive within `silenceMs`. Time in which
 * the reader does not read does not count.
 */
export function limitSilence(client: S3Client, silenceMs: number): void {
  const { requestHandler } = client.config;
  const handle = requestHandler.handle.bind(requestHandler);
  requestHandler.handle = async (request, options) => {
    const result = await handle(request, options);
    const body = result.response.body as IncomingMessage;
    // The timeout of the socket would count the time of the reader.
    body.socket.setTimeout(0);
    result.response.body = readWithin(body, silenceMs);
    return result;
  };
}

function readWithin(body: Readable, silenceMs: number): Readable {
  const limited = new SilenceLimit(silenceMs);
  body.once('error', (error) => limited.destroy(error));
  limited.once('close', () => body.destroy());
  return body.pipe(limited);
}

/** Passes bytes on, and fails if the next ones do not arrive in time after it asked for them. */
class SilenceLimit extends Transform {
  readonly #silenceMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(silenceMs: number) {
    super();
    this.#silenceMs = silenceMs;
  }

  override _read(size: number): void {
    this.#timer ??= setTimeout(() => {
      this.destroy(new Error(`no bytes of the response for ${this.#silenceMs} ms`));
    }, this.#silenceMs);
    super._read(size);
  }

  override _transform(chunk: Uint8Array, _: BufferEncoding, done: TransformCallback): void {
    this.#stop();
    done(null, chunk);
  }

  override _flush(done: TransformCallback): void {
    this.#stop();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#stop();
    super._destroy(error, done);
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
