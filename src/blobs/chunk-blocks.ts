import { createHash } from 'node:crypto';

const blockBytes = 262_144;

/** Size and digest of the blocks yielded by toBlocks(). */
export interface BlockTotals {
  readonly bytes: number;
  /** Returns the SHA-256 in hexadecimal. Can be called once. */
  digest(): string;
}

/**
 * Combines chunks of any size into blocks of up to 256 KiB, none empty, so that many small records
 * need few writes. Strings are encoded as UTF-8. Yielded blocks are never reused. `totals` covers
 * all yielded blocks.
 */
export function toBlocks(chunks: AsyncIterable<Uint8Array | string>): {
  blocks: AsyncGenerator<Buffer, void, void>;
  totals: BlockTotals;
} {
  const hash = createHash('sha256');
  let bytes = 0;
  const count = (block: Buffer): Buffer => {
    hash.update(block);
    bytes += block.length;
    return block;
  };

  async function* gather(): AsyncGenerator<Buffer, void, void> {
    let block = Buffer.allocUnsafeSlow(blockBytes);
    let filled = 0;
    for await (const chunk of chunks) {
      const length = Buffer.byteLength(chunk);
      if (length > blockBytes - filled && filled > 0) {
        yield count(block.subarray(0, filled));
        block = Buffer.allocUnsafeSlow(blockBytes);
        filled = 0;
      }
      if (length > blockBytes) {
        yield count(Buffer.from(chunk as Uint8Array));
        continue;
      }
      write(block, chunk, filled);
      filled += length;
    }
    if (filled > 0) yield count(block.subarray(0, filled));
  }

  return {
    blocks: gather(),
    totals: {
      get bytes() {
        return bytes;
      },
      digest: () => hash.digest('hex'),
    },
  };
}

function write(block: Buffer, chunk: Uint8Array | string, offset: number): void {
  if (typeof chunk === 'string') block.write(chunk, offset);
  else block.set(chunk, offset);
}

/** Size of a file, and its SHA-256 in hexadecimal. */
export interface Digest {
  bytes: number;
  sha256: string;
}

/** Reads chunks to their end. */
export async function computeDigest(chunks: AsyncIterable<Uint8Array>): Promise<Digest> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of chunks) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, sha256: hash.digest('hex') };
}
