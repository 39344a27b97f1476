import { readCursor, rowsToRead, toPage } from '../cursor.ts';
import type { AccountStore } from '../store.ts';
import { type Engine, unlessDuplicate } from './engine.ts';
import { olderThan } from './paging.ts';
import { readUser, withId, withUnderscore } from './shapes.ts';

/** Users and keys in MongoDB. */
export function accountStore(engine: Engine): AccountStore {
  return {
    createUser: (user) =>
      engine.run(async ({ users }) => {
        const document = { ...withUnderscore(user), openKeys: [], epoch: 0 };
        return (await unlessDuplicate(users.insertOne(document))) !== null;
      }),

    getUser: (id) =>
      engine.run(async ({ users }) => {
        const document = await users.findOne({ _id: id });
        return document && readUser(document);
      }),

    getUsers: (ids) =>
      engine.run(async ({ users }) => (await users.find({ _id: { $in: [...ids] } }).toArray()).map(readUser)),

    listUsers: async (role, page) => {
      const after = readCursor(page);
      const documents = await engine.run(({ users }) =>
        users
          .find({ role, ...olderThan(after) })
          .sort({ createdAt: -1, _id: -1 })
          .limit(rowsToRead(page))
          .toArray(),
      );
      return toPage(documents.map(readUser), page, (user) => ({ at: user.createdAt, id: user.id }));
    },

    createApiKey: (key) =>
      engine.run(
        async ({ apiKeys }) => (await unlessDuplicate(apiKeys.insertOne(withUnderscore(key)))) !== null,
      ),

    findApiKey: (hash) =>
      engine.run(async ({ apiKeys }) => {
        const document = await apiKeys.findOne({ hash });
        return document && withId(document);
      }),

    revokeApiKey: (id, at, userId) =>
      engine.run(async ({ apiKeys }) => {
        const which = userId === undefined ? { _id: id } : { _id: id, userId };
        await apiKeys.updateOne({ ...which, revokedAt: null }, { $set: { revokedAt: at } });
        const document = await apiKeys.findOne(which);
        return document && withId(document);
      }),

    listApiKeys: (userId) =>
      engine.run(async ({ apiKeys }) => {
        const documents = await apiKeys.find({ userId }).sort({ createdAt: -1, _id: -1 }).toArray();
        return documents.map(withId);
      }),
  };
}
