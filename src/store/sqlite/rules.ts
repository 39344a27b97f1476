import type { HistoryStore } from '../history.ts';
import type { SqliteEngine } from './engine.ts';
import { rules } from './shapes.ts';

type RuleMethods = Pick<HistoryStore, 'createRule' | 'putRule' | 'getRule' | 'listRules' | 'deleteRule'>;

/** Creates the SQLite implementation of the rules of HistoryStore. */
export function ruleStore(engine: SqliteEngine): RuleMethods {
  return {
    createRule: async (rule) =>
      engine.run(
        `INSERT INTO rules (${rules.columns}) VALUES (${rules.marks}) ON CONFLICT DO NOTHING`,
        ...rules.values(rule),
      ) === 1,

    putRule: async (rule) =>
      engine.run(
        `UPDATE rules SET (${rules.columns}) = (${rules.marks}) WHERE id = ? AND user_id = ? AND revision = ?`,
        ...rules.values(rule),
        rule.id,
        rule.userId,
        rule.revision - 1,
      ) === 1,

    getRule: async (id) => engine.document(rules, `SELECT ${rules.select} FROM rules WHERE id = ?`, id),

    listRules: async (userId) =>
      engine.documents(
        rules,
        `SELECT ${rules.select} FROM rules WHERE user_id = ? ORDER BY created_at, id`,
        userId,
      ),

    deleteRule: async (id, userId) =>
      engine.run('DELETE FROM rules WHERE id = ? AND user_id = ?', id, userId) === 1,
  };
}
