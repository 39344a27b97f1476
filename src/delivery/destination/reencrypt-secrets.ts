import type { SecretBox } from '../../access/links/secret-box.ts';
import type { Log } from '../../base/log.ts';
import type { Store } from '../../store/store.ts';
import { openDestination, sealSecrets } from './address.ts';

/** Dependencies of resealDestinations(). */
export interface ResealContext {
  store: Pick<Store, 'destinations'>;
  destinations: { box: SecretBox };
  log: Log;
}

/** Destinations per call. */
const maxDestinations = 200;

/**
 * Encrypts the secrets of destinations with the newest key, so that the earlier keys can be removed after a
 * rotation. Secrets whose key is unknown stay as they are. Each step can be repeated; concurrent calls do no
 * harm.
 */
export async function resealDestinations({ store, destinations, log }: ResealContext): Promise<void> {
  const { box } = destinations;
  const key = box.newestKey;
  let count = 0;
  for (const destination of await store.destinations.find(
    { secretsKey: { not: key } },
    { order: ['secretsKey', 'id'], limit: maxDestinations },
  )) {
    const opened = openDestination(box, destination);
    if (opened === null) continue;
    const sealed = sealSecrets(box, destination, opened.secrets);
    const revision = destination.revision + 1;
    if (await store.destinations.put({ ...destination, ...sealed, revision })) count += 1;
  }
  if (count > 0) log.info({ count }, 'secrets of destinations encrypted with the newest key');
}
