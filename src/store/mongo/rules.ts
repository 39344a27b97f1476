import type { HistoryStore } from '../history.ts';
import { unlessDuplicate } from './duplicates.ts';
import type { MongoEngine } from './engine.ts';
import { withId, withUnderscore } from './shapes.ts';

type RuleMethods = Pick<HistoryStore, 'createRule' | 'putRule' | 'getRule' | 'listRules' | 'deleteRule'>;

/** Creates the MongoDB implementation of the rules of HistoryStore. */
export function ruleStore(engine: MongoEngine): RuleMethods {
  return {
    createRule: (rule) =>
      engine.run(
        async ({ rules }) => (await unlessDuplicate(() => rules.insertOne(withUnderscore(rule)))) !== null,
      ),

    putRule: ({ id, ...rule }) =>
      engine.run(async ({ rules }) => {
        const which = { _id: id, userId: rule.userId, revision: rule.revision - 1 };
        return (await rules.updateOne(which, { $set: rule })).matchedCount === 1;
      }),

    getRule: (id) =>
      engine.run(async ({ rules }) => {
        const found = await rules.findOne({ _id: id });
        return found && withId(found);
      }),

    listRules: (userId) =>
      engine.run(async ({ rules }) =>
        (await rules.find({ userId }).sort({ createdAt: 1, _id: 1 }).toArray()).map(withId),
      ),

    deleteRule: (id, userId) =>
      engine.run(async ({ rules }) => (await rules.deleteOne({ _id: id, userId })).deletedCount === 1),
  };
}
