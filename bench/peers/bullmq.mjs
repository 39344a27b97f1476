import { Queue, QueueEvents, Worker } from 'bullmq';
import { MongoClient } from 'mongodb';
import { Pool } from 'undici';
import { concurrency, paths, recordOf, serve, settings } from './peer.mjs';

// A queue of BullMQ, and a worker that fetches with undici and writes each record to MongoDB. A
// retried job replaces its record. A later run continues the queue.
const { origin, redisPort, mongoUri } = settings;
const connection = { host: '127.0.0.1', port: Number(redisPort), maxRetriesPerRequest: null };
const mongo = await new MongoClient(mongoUri).connect();
const records = mongo.db().collection('records');
const queue = new Queue('pages', { connection });

await serve({
  async run() {
    const added = paths();
    const { waiting, active, completed, failed } = await queue.getJobCounts();
    const isNew = waiting + active + completed + failed === 0;
    const pool = new Pool(origin, { connections: concurrency });
    const worker = new Worker(
      'pages',
      async ({ data: { path } }) => {
        const { statusCode, body } = await pool.request({ path, method: 'GET' });
        if (statusCode !== 200) throw new Error(`${path}: status ${statusCode}`);
        const { id, ...record } = recordOf(await body.json());
        await records.replaceOne({ _id: id }, record, { upsert: true });
      },
      { connection, concurrency },
    );
    const events = new QueueEvents('pages', { connection });
    await events.waitUntilReady();
    let left = added.length - (isNew ? 0 : completed);
    const ended = new Promise((resolve) => {
      events.on('completed', () => {
        left -= 1;
        if (left === 0) resolve();
      });
    });
    if (isNew) {
      const jobs = added.map((path) => ({ name: 'page', data: { path }, opts: { attempts: 3 } }));
      for (let from = 0; from < jobs.length; from += 1_000)
        await queue.addBulk(jobs.slice(from, from + 1_000));
    }
    if (left > 0) await ended;
    await Promise.all([worker.close(), events.close(), pool.close()]);
  },
  results: () => records.distinct('_id'),
});
await queue.close();
await mongo.close();
