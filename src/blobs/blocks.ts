import { createHash } from 'node:crypto';

const blockBytes = 262_144;

/** Counts what passes through `toBlocks`. */
export interface Tally {
  readonly bytes: number;
  /** SHA-256 of everything so far, hexadecimal; ends the count. */
  digest(): string;
}

/**
 * Gathers chunks of any size into blocks of 256 KiB (the last one shorter, none empty), so that a
 * file of many small records costs few writes. Strings go out as UTF-8. A block is never touched
 * again once it is yielded. `tally` counts every byte that was yielded.
 */
export function toBlocks(chunks: AsyncIterable<Uint8Array | string>): {
  blocks: AsyncGenerator<Buffer, void, void>;
  tally: Tally;
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
      const length = typeof chunk === 'string' ? Buffer.byteLength(chunk) : chunk.byteLength;
      if (length > blockBytes - filled && filled > 0) {
        yield count(block.subarray(0, filled));
        block = Buffer.allocUnsafeSlow(blockBytes);
        filled = 0;
      }
      if (length > blockBytes) {
        yield count(Buffer.from(chunk as Uint8Array));
      } else if (typeof chunk === 'string') {
        filled += block.write(chunk, filled);
      } else {
        block.set(chunk, filled);
        filled += length;
      }
    }
    if (filled > 0) yield count(block.subarray(0, filled));
  }

  return {
    blocks: gather(),
    tally: {
      get bytes() {
        return bytes;
      },
      digest: () => hash.digest('hex'),
    },
  };
}
