import type { KeyStore } from '../store.ts';
import { unlessDuplicate } from './duplicates.ts';
import type { MongoEngine } from './engine.ts';
import { readKey, readUser, withUnderscore } from './shapes.ts';

/** Creates the MongoDB implementation of KeyStore. */
export function keyStore(engine: MongoEngine): KeyStore {
  return {
    createApiKey: (key) =>
      engine.run(
        async ({ apiKeys }) => (await unlessDuplicate(() => apiKeys.insertOne(withUnderscore(key)))) !== null,
      ),

    getApiKey: (id) =>
      engine.run(async ({ apiKeys, users }) => {
        const document = await apiKeys.findOne({ _id: id });
        return document && readKey(document, await users.findOne({ _id: document.userId }));
      }),

    findApiKey: (hash) =>
      engine.run(async ({ apiKeys, users }) => {
        const document = await apiKeys.findOne({ hash });
        const user = document && (await users.findOne({ _id: document.userId }));
        return user && { key: readKey(document, user), user: readUser(user) };
      }),

    touchApiKey: (id, at) =>
      engine.run(async ({ apiKeys }) => {
        const earlier = { $or: [{ lastUsedAt: null }, { lastUsedAt: { $lt: at } }] };
        await apiKeys.updateOne({ _id: id, ...earlier }, { $set: { lastUsedAt: at } });
      }),

    revokeApiKey: (id, at, userId) =>
      engine.run(async ({ apiKeys, users }) => {
        const which = userId === undefined ? { _id: id } : { _id: id, userId };
        await apiKeys.updateOne({ ...which, revokedAt: null }, { $set: { revokedAt: at } });
        const document = await apiKeys.findOne(which);
        return document && readKey(document, await users.findOne({ _id: document.userId }));
      }),

    deleteApiKey: ({ id, userId }) =>
      engine.run(async ({ apiKeys, users }) => {
        await apiKeys.deleteOne({ _id: id });
        await users.updateOne({ _id: userId }, { $unset: { [`spentByKey.${id}`]: '' } });
      }),

    listApiKeys: (userId) =>
      engine.run(async ({ apiKeys, users }) => {
        const user = await users.findOne({ _id: userId });
        const documents = await apiKeys.find({ userId }).sort({ createdAt: -1, _id: -1 }).toArray();
        return documents.map((document) => readKey(document, user));
      }),
  };
}
