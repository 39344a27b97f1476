import { onDemand } from '../base/on-demand.ts';
import type { SecretBox } from '../links/secret-box.ts';
import type { OpenedDestination } from './address.ts';
import type { DestinationWriter } from './writer.ts';

/** Access to the destinations of users. */
export interface Destinations {
  box: SecretBox;
  /** True if destinations may be in private networks. */
  allowPrivate: boolean;
  /** Opens a destination; close the writer afterwards. */
  open(destination: OpenedDestination): Promise<DestinationWriter>;
  /** Closes all connections of the sender. */
  close(): Promise<void>;
}

/** Options for createDestinations(). */
export interface DestinationsOptions {
  box: SecretBox;
  allowPrivate: boolean;
  now(): number;
}

/** Timeout of a receiver that stalls while a file is sent, in milliseconds. */
const stallMs = 60_000;

/**
 * Creates the access to destinations. Loads the clients when they are needed: most installations
 * have no destinations.
 */
export function createDestinations({ box, allowPrivate, now }: DestinationsOptions): Destinations {
  const files = onDemand(async () =>
    (await import('../outbound/post.ts')).createPoster({ totalMs: stallMs }),
  );
  return {
    box,
    allowPrivate,
    async open(destination) {
      const { openWriter } = await import('./writer.ts');
      return openWriter({ files: await files(), now, allowPrivate }, destination);
    },
    close: files.close,
  };
}
