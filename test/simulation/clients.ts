import type { DescMethod } from '@bufbuild/protobuf';
import { JobService } from '../../gen/gleaner/job/v1/job_pb.ts';
import { MktaService } from '../../gen/gleaner/mkta/v1/mkta_pb.ts';
import { OperatorService } from '../../gen/gleaner/operator/v1/operator_pb.ts';
import { type Caller, insist, type Reply } from './calls.ts';
import type { World } from './world.ts';

/** A job that a client wanted, and what it heard of it. */
export interface Wish {
  userId: string;
  /** Keys of its units: no other wish has them. */
  units: string[];
  key: string | undefined;
  /** How each call ended, in order. */
  ends: Reply<DescMethod>['end'][];
  /** Ids that were answered: uuids and integers. */
  answered: Set<string>;
}

/** A grant of credits, under an idempotency key. */
export interface Grant {
  userId: string;
  key: string;
  amount: number;
  answered: boolean;
}

/** All that clients did, for the invariants. */
export interface History {
  wishes: Wish[];
  /** Ids of the jobs answered to each retry, by its idempotency key. */
  retries: Map<string, Set<string>>;
  grants: Grant[];
}

/** When clients begin, in simulated milliseconds. */
const beginWithinMs = 90_000;

/** Lets users and an operator do what they do; resolves when the users have their answers. */
export async function runClients(
  world: World,
  users: readonly Caller[],
  operator: Caller,
  jobs: number,
  history: History,
): Promise<void> {
  void decide(world, operator);
  const submits = Array.from({ length: jobs }, (_, index) =>
    wishFor(world, world.random.pick(users), index + 1, history),
  );
  const grants = users.map((user, index) => grant(world, user, operator, index, history));
  const others = users.map((user) => meddle(world, user, operator, history));
  await Promise.all([...submits, ...grants, ...others]);
}

async function wishFor(world: World, user: Caller, place: number, history: History): Promise<void> {
  const { scheduler, random } = world;
  await scheduler.sleep(random.integer(0, beginWithinMs));
  const units = Array.from({ length: random.integer(1, 9) }, (_, index) => `${place * 100 + index + 1}`);
  const key = random.once(3) ? undefined : `wish-${place}`;
  const wish: Wish = { userId: user.principal.userId, units, key, ends: [], answered: new Set() };
  history.wishes.push(wish);
  const [method, request] = submitOf(world, wish);
  const note = (reply: Reply<DescMethod>) => {
    wish.ends.push(reply.end);
    if (reply.end !== 'answered') return;
    const { jobId, taskId } = reply.message as { jobId?: string; taskId?: bigint };
    wish.answered.add(String(jobId ?? taskId));
  };
  if (key === undefined) note(await user.call(method, request));
  else {
    // Sometimes twice at the same time, as a client with a short timeout does.
    const turns = random.once(3) ? 2 : 1;
    const insisting = Array.from({ length: turns }, () => insist(world, user, method, request, key));
    for (const reply of await Promise.all(insisting)) note(reply);
  }
}

function submitOf(world: World, wish: Wish): [DescMethod, Record<string, unknown>] {
  const { method } = MktaService;
  const shopId = '77';
  switch (world.random.integer(1, 4)) {
    case 1:
      return [
        method.submitVariantSold,
        { country: 'sg', items: wish.units.map((itemId) => ({ itemId, shopId })) },
      ];
    case 2: {
      const rows = wish.units.map((id, index) => `${index % 2 === 0 ? 'sg' : 'my'},${shopId},${id}`);
      const file = Buffer.from(['region,shop_id,item_id', ...rows].join('\n'));
      return [method.submitGetPcBulk, { file, rescrape: true, resultFormat: 'jsonl' }];
    }
    case 3:
      wish.units = wish.units.map((id) => `https://mkta.sg/shop/${id}`);
      return [method.submitMerchantItems, { urls: wish.units }];
    default:
      wish.units = wish.units.slice(0, 1);
      return [method.submitGetPc, { region: 'sg', itemId: wish.units[0], shopId }];
  }
}

async function grant(world: World, user: Caller, operator: Caller, place: number, history: History) {
  const { scheduler, random } = world;
  await scheduler.sleep(random.integer(0, beginWithinMs));
  const { userId } = user.principal;
  const made: Grant = { userId, key: `grant-${place}`, amount: random.integer(1, 500), answered: false };
  history.grants.push(made);
  const request = { userId, amount: BigInt(made.amount) };
  const reply = await insist(world, operator, OperatorService.method.grantCredits, request, made.key);
  made.answered = reply.end === 'answered';
}

/** Approves most jobs that wait, and rejects the others; both at once now and then. Never ends. */
async function decide(world: World, operator: Caller): Promise<void> {
  const { scheduler, random } = world;
  const { listJobs, approveJob, rejectJob } = OperatorService.method;
  for (;;) {
    await scheduler.sleep(random.integer(5_000, 25_000));
    const reply = await operator.call(listJobs, { status: 'awaiting_approval' });
    if (reply.end !== 'answered') continue;
    const decisions = reply.message.jobs.flatMap(({ jobId }) => {
      const approve = () => operator.call(approveJob, { jobId });
      const reject = () => operator.call(rejectJob, { jobId, reason: 'Not today.' });
      if (random.once(10)) return [approve(), reject()];
      return [random.once(6) ? reject() : approve()];
    });
    await Promise.all(decisions);
  }
}

/** Looks at a user's jobs, stops some that run and retries some that failed. */
async function meddle(world: World, user: Caller, operator: Caller, history: History): Promise<void> {
  const { scheduler, random } = world;
  const { listJobs, cancelJob, listUnits } = JobService.method;
  for (let turn = 0; turn < 4; turn++) {
    await scheduler.sleep(random.integer(10_000, 50_000));
    const reply = await user.call(listJobs, {});
    if (reply.end !== 'answered') continue;
    const { jobs } = reply.message;
    const running = jobs.filter(({ ended }) => !ended);
    const failed = jobs.filter(({ failed: units, ended }) => units > 0 && ended);
    if (jobs.length > 0) await user.call(listUnits, { jobId: random.pick(jobs).jobId });
    if (running.length > 0 && random.once(3))
      await user.call(cancelJob, { jobId: random.pick(running).jobId });
    if (failed.length > 0 && random.once(2))
      await retry(world, random.once(2) ? user : operator, random.pick(failed).jobId, history);
  }
}

/** Retries a job's failed units, twice at once now and then. */
async function retry(world: World, caller: Caller, jobId: string, history: History): Promise<void> {
  const { random } = world;
  const key = `retry-${history.retries.size + 1}`;
  const answered = new Set<string>();
  history.retries.set(key, answered);
  const one = async () => {
    if (caller.principal.role === 'user') {
      const reply = await insist(world, caller, JobService.method.retryJob, { jobId }, key);
      if (reply.end === 'answered') answered.add(reply.message.jobId);
      return;
    }
    const reply = await insist(world, caller, OperatorService.method.retryJob, { jobId }, key);
    if (reply.end === 'answered') answered.add(reply.message.job!.jobId);
  };
  await Promise.all(random.once(3) ? [one(), one()] : [one()]);
}
