import type { KeyDirectory } from '../api/rest/rest.ts';
import type { Clock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { loadOnce } from '../base/on-demand.ts';
import { deriveKey } from '../base/sealing.ts';
import type { BotIdentity } from '../fetch/web-bot-auth.ts';
import { openSecrets } from '../links/secrets.ts';

/**
 * Returns the identity that signs requests to sites, with keys derived from the secrets of the
 * service, the newest first. Null unless the public URL is https, since sites fetch the keys from
 * it. Loads its code on demand.
 */
export async function openBotIdentity(
  { linkSecrets, dataDir, publicUrl }: Pick<Config, 'linkSecrets' | 'dataDir' | 'publicUrl'>,
  clock: Clock,
): Promise<BotIdentity | null> {
  if (!publicUrl?.startsWith('https:')) return null;
  const { createBotIdentity } = await import('../fetch/web-bot-auth.ts');
  const seeds = openSecrets(linkSecrets, dataDir).map((secret) =>
    deriveKey(secret, 'gleaner web bot auth'),
  );
  return createBotIdentity({ seeds, agent: new URL(publicUrl).origin, clock });
}

/**
 * Returns a function that returns the directory of the identity's keys, signed for each response.
 */
export function createKeyDirectory(
  config: Pick<Config, 'linkSecrets' | 'dataDir' | 'publicUrl'>,
  clock: Clock,
): KeyDirectory {
  const identity = loadOnce(() => openBotIdentity(config, clock));
  return async () => (await identity())?.directory() ?? null;
}
