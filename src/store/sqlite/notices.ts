import type { Webhook } from '../documents.ts';
import type { NoticeStore } from '../notices.ts';
import type { SqliteEngine } from './engine.ts';
import { type Condition, readNewest } from './paging.ts';
import { visible } from './removing.ts';
import { deliveries, jobs } from './shapes.ts';

/** A row of `webhooks`. */
type WebhookRow = Omit<Webhook, 'enabled'> & { enabled: number };

/** Creates the SQLite implementation of NoticeStore. */
export function noticeStore(engine: SqliteEngine): NoticeStore {
  return {
    findJobsWithDueNotice: async (now, limit) =>
      engine.documents(
        jobs,
        `SELECT ${jobs.select} FROM jobs WHERE notice_at <= ? AND ${visible}
           ORDER BY notice_at, id LIMIT ?`,
        now,
        Math.max(0, limit),
      ),

    advanceNotice: async (jobId, reason, next) =>
      engine.run(
        'UPDATE jobs SET notice_due = ?, notice_at = ? WHERE id = ? AND notice_due = ?',
        next?.reason ?? null,
        next?.at ?? null,
        jobId,
        reason,
      ) === 1,

    decideHold: async (jobId, decision, at) =>
      engine.document(
        jobs,
        `UPDATE jobs SET hold = json_set(hold, '$.state', ?1, '$.decidedAt', ?2)
           ${decision === 'released' ? `, notice_due = 'released', notice_at = ?2` : ''}
         WHERE id = ?3 AND hold ->> '$.state' = 'held' AND ${visible} RETURNING ${jobs.select}`,
        decision,
        at,
        jobId,
      ),

    getWebhook: async (userId) => {
      const row = engine.get<WebhookRow>(
        `SELECT user_id AS userId, url, enabled, secret, previous_secret AS previousSecret,
           previous_until AS previousUntil, updated_at AS updatedAt, revision FROM webhooks WHERE user_id = ?`,
        userId,
      );
      return row && { ...row, enabled: row.enabled === 1 };
    },

    putWebhook: async (webhook) => {
      const { userId, url, enabled, secret, previousSecret, previousUntil, updatedAt, revision } = webhook;
      const values = [url, enabled ? 1 : 0, secret, previousSecret, previousUntil, updatedAt];
      if (revision === 1) {
        const insert = `INSERT INTO webhooks (url, enabled, secret, previous_secret, previous_until, updated_at,
          user_id, revision) VALUES (?, ?, ?, ?, ?, ?, ?, 1) ON CONFLICT DO NOTHING`;
        return engine.run(insert, ...values, userId) === 1;
      }
      const update = `UPDATE webhooks SET url = ?, enabled = ?, secret = ?, previous_secret = ?, previous_until = ?,
        updated_at = ?, revision = revision + 1 WHERE user_id = ? AND revision = ?`;
      return engine.run(update, ...values, userId, revision - 1) === 1;
    },

    deleteWebhook: async (userId) => {
      engine.run('DELETE FROM webhooks WHERE user_id = ?', userId);
    },

    createDelivery: async (delivery) =>
      engine.run(
        `INSERT INTO deliveries (${deliveries.columns}) VALUES (${deliveries.marks}) ON CONFLICT DO NOTHING`,
        ...deliveries.values(delivery),
      ) === 1,

    claimDeliveries: async (now, leaseUntil, limit) => {
      const taken = engine.documents(
        deliveries,
        `UPDATE deliveries SET take = take + 1, next_attempt_at = ? WHERE id IN (
           SELECT id FROM deliveries WHERE next_attempt_at <= ? ORDER BY next_attempt_at, id LIMIT ?
         ) RETURNING ${deliveries.select}`,
        leaseUntil,
        now,
        Math.max(0, limit),
      );
      // The order of RETURNING is undefined.
      return taken.sort((a, b) => a.createdAt - b.createdAt);
    },

    recordAttempt: async (id, take, { target, responseStatus, error, state, nextAttemptAt, endedAt }) =>
      engine.run(
        `UPDATE deliveries SET attempts = attempts + 1, target = ?, response_status = ?, error = ?, state = ?,
           next_attempt_at = ?, ended_at = ? WHERE id = ? AND take = ? AND state = 'pending'`,
        target,
        responseStatus,
        error,
        state,
        nextAttemptAt,
        endedAt,
        id,
        take,
      ) === 1,

    postponeDelivery: async (id, take, until) =>
      engine.run(
        `UPDATE deliveries SET next_attempt_at = ? WHERE id = ? AND take = ? AND state = 'pending'`,
        until,
        id,
        take,
      ) === 1,

    listDeliveries: async (userId, page) => {
      const where: Condition[] = userId === undefined ? [] : [['user_id IS ?', userId]];
      return readNewest(
        engine,
        { table: 'deliveries', shape: deliveries, where, order: ['createdAt', 'id'] },
        page,
      );
    },

    redeliver: async (id, now, userId) =>
      engine.document(
        deliveries,
        `UPDATE deliveries SET state = 'pending', take = take + 1, attempts_before = attempts, next_attempt_at = ?,
           ended_at = NULL WHERE id = ? ${userId === undefined ? '' : 'AND user_id = ?'} RETURNING ${deliveries.select}`,
        now,
        id,
        ...(userId === undefined ? [] : [userId]),
      ),
  };
}
