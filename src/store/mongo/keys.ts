import type { Collection } from '../collection.ts';
import type { ApiKey } from '../documents.ts';
import type { KeyStore } from '../keys.ts';
import type { MongoEngine } from './engine.ts';
import { readUser } from './shapes.ts';

/**
 * Creates the MongoDB implementation of KeyStore. The credits that keys spent are in their users'
 * documents.
 */
export function keyStore(engine: MongoEngine, keys: Collection<ApiKey>): KeyStore {
  const withSpent = (found: ApiKey[]) =>
    engine.run(async ({ users }) => {
      if (found.length === 0) return found;
      const ids = [...new Set(found.map(({ userId }) => userId))];
      const owners = await users
        .find({ _id: { $in: ids } }, { projection: { spentByKey: 1 } })
        .toArray();
      const spent = Object.assign({}, ...owners.map(({ spentByKey }) => spentByKey)) as Record<
        string,
        number
      >;
      return found.map((key) => ({
        ...key,
        creditsSpent: key.creditsSpent + (spent[key.id] ?? 0),
      }));
    });
  const oneWithSpent = async (key: ApiKey | null) =>
    key === null ? null : (await withSpent([key]))[0]!;
  return {
    ...keys,
    get: async (...id) => oneWithSpent(await keys.get(...id)),
    find: async (where, options) => withSpent(await keys.find(where, options)),
    update: async (...parameters) => oneWithSpent(await keys.update(...parameters)),

    remove: async (where, limit) => {
      const found = await keys.find(where, {
        order: [],
        ...(limit === undefined ? {} : { limit }),
      });
      const ids = found.map(({ id }) => id);
      const removed = ids.length === 0 ? 0 : await keys.remove({ ...where, id: { in: ids } });
      await engine.run(async ({ users }) => {
        for (const { id, userId } of found)
          await users.updateOne({ _id: userId }, { $unset: { [`spentByKey.${id}`]: '' } });
      });
      return removed;
    },

    findByHash: (hash) =>
      engine.run(async ({ users }) => {
        const [key] = await keys.find({ hash }, { order: [] });
        const user = key && (await users.findOne({ _id: key.userId }));
        if (!user) return null;
        const spent = user.spentByKey?.[key.id] ?? 0;
        return { key: { ...key, creditsSpent: key.creditsSpent + spent }, user: readUser(user) };
      }),
  };
}
