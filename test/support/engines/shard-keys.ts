import { readFileSync } from 'node:fs';

const page = readFileSync(new URL('../../../docs/scaling.md', import.meta.url), 'utf8');

/** Fields of the hashed shard keys that docs/scaling.md names, by collection. */
export const shardKeys: ReadonlyMap<string, string> = new Map(
  [...page.matchAll(/^sh\.shardCollection\('gleaner\.(\w+)', \{ (\w+): 'hashed' \}\)$/gm)].map(
    ([, collection, key]) => [collection!, key!],
  ),
);
