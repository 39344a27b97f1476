import type { DescMethod } from '@bufbuild/protobuf';
import { JobService } from '../../gen/gleaner/job/v1/job_pb.ts';
import { MktaService } from '../../gen/gleaner/mkta/v1/mkta_pb.ts';
import { OperatorService } from '../../gen/gleaner/operator/v1/operator_pb.ts';
import type { SubmitOptionValues } from '../../src/contract/submit-options.ts';
import { type Caller, type CallReply, callUntilAnswered } from './calls.ts';
import { sharedItems } from './outside.ts';
import type { World } from './world.ts';

/** A job that a client submits, and the replies it got. */
export interface IntendedJob {
  userId: string;
  /** Keys of its units. The first is unique to this job. */
  units: string[];
  key: string | undefined;
  options: SubmitOptionValues;
  /** Cost of the job in its quote. Null if there was none. */
  quotedCost: number | null;
  /** True if only a quote was requested. */
  isQuoteOnly: boolean;
  /** Outcome of each call, in order. */
  ends: CallReply<DescMethod>['end'][];
  /** Messages of the refusals. */
  refusals: string[];
  /** Ids in the replies: UUIDs or integers. */
  answered: Set<string>;
}

/** A grant of credits with an idempotency key. */
export interface Grant {
  userId: string;
  key: string;
  amount: number;
  answered: boolean;
}

/** Record of the clients' calls, for the invariants. */
export interface History {
  intended: IntendedJob[];
  /** Ids of the jobs in the replies to each retry, by idempotency key. */
  retries: Map<string, Set<string>>;
  grants: Grant[];
}

/** Maximum simulated milliseconds before a client starts. */
const startWithinMs = 90_000;

/** Runs the users and the operator. Resolves once all calls of the users are answered. */
export async function runClients(
  world: World,
  users: readonly Caller[],
  operator: Caller,
  jobs: number,
  history: History,
): Promise<void> {
  void decide(world, operator);
  const submits = Array.from({ length: jobs }, (_, index) =>
    submitIntended(world, world.random.pick(users), index + 1, history),
  );
  const grants = users.map((user, index) => grant(world, user, operator, index, history));
  const others = users.map((user) => cancelAndRetry(world, user, operator, history));
  await Promise.all([...submits, ...grants, ...others]);
}

async function submitIntended(
  world: World,
  user: Caller,
  place: number,
  history: History,
): Promise<void> {
  const { scheduler, random } = world;
  await scheduler.sleep(random.integer(0, startWithinMs));
  const key = random.once(3) ? undefined : `wish-${place}`;
  const intent: IntendedJob = {
    userId: user.principal.userId,
    units: drawUnits(world, place),
    key,
    options: drawOptions(world),
    quotedCost: null,
    isQuoteOnly: random.once(8),
    ends: [],
    refusals: [],
    answered: new Set(),
  };
  history.intended.push(intent);
  const [method, request] = submitOf(world, intent);
  if (intent.isQuoteOnly || random.once(3)) await quote(world, user, intent, method, request);
  if (intent.isQuoteOnly) return;
  const record = (reply: CallReply<DescMethod>) => {
    intent.ends.push(reply.end);
    if (reply.end === 'refused') intent.refusals.push(reply.fault.message);
    if (reply.end !== 'answered') return;
    const { jobId, taskId } = reply.message as { jobId?: string; taskId?: bigint };
    intent.answered.add(String(jobId ?? taskId));
  };
  if (key === undefined) record(await user.call(method, request, undefined, intent.options));
  else {
    // Sometimes sends the call twice at the same time, like a client with a short timeout.
    const copies = random.once(3) ? 2 : 1;
    const replies = Array.from({ length: copies }, () =>
      callUntilAnswered(world, user, method, request, key, intent.options),
    );
    for (const reply of await Promise.all(replies)) record(reply);
  }
}

/** Draws the units of a job. About half of them belong to other jobs, too. */
function drawUnits({ random }: World, place: number): string[] {
  const first = random.integer(0, sharedItems.length - 1);
  return Array.from({ length: random.integer(1, 9) }, (_, index) =>
    index > 0 && random.once(2)
      ? sharedItems[(first + index) % sharedItems.length]!
      : `${place * 100 + index + 1}`,
  );
}

function drawOptions({ random }: World): SubmitOptionValues {
  return {
    ...(random.once(4) ? { maxCredits: random.integer(1, 80) } : {}),
    ...(random.once(2) ? { maxAge: random.pick(['5s', '1m', '1h']) } : {}),
    ...(random.once(2) ? { track: random.pick(['true', 'daily']) } : {}),
  };
}

/**
 * Requests the quote of a job with the idempotency key of its submission and a maximum that its
 * submission does not have. A quote that used up the key would conflict with the submission.
 */
async function quote(
  world: World,
  user: Caller,
  intent: IntendedJob,
  method: DescMethod,
  request: Record<string, unknown>,
): Promise<void> {
  const options = { ...intent.options, maxCredits: 0, validateOnly: true };
  const reply = await callUntilAnswered(world, user, method, request, intent.key, options);
  if (reply.end !== 'answered') return;
  const message = reply.message as { quote?: { cost: bigint }; jobId?: string; taskId?: bigint };
  intent.quotedCost = Number(message.quote?.cost);
  if (message.jobId || message.taskId)
    world.problems.push(`the quote of ${intent.units[0]} names a job`);
}

function submitOf(world: World, intent: IntendedJob): [DescMethod, Record<string, unknown>] {
  const { method } = MktaService;
  const shopId = '77';
  switch (world.random.integer(1, 4)) {
    case 1:
      return [
        method.submitVariantSold,
        { country: 'sg', items: intent.units.map((itemId) => ({ itemId, shopId })) },
      ];
    case 2: {
      const rows = intent.units.map(
        (id, index) => `${index % 2 === 0 ? 'sg' : 'my'},${shopId},${id}`,
      );
      const file = Buffer.from(['region,shop_id,item_id', ...rows].join('\n'));
      return [method.submitGetPcBulk, { file, rescrape: true, resultFormat: 'jsonl' }];
    }
    case 3:
      intent.units = intent.units.map((id) => `https://mkta.sg/shop/${id}`);
      return [method.submitMerchantItems, { urls: intent.units }];
    default:
      intent.units = intent.units.slice(0, 1);
      return [method.submitGetPc, { region: 'sg', itemId: intent.units[0], shopId }];
  }
}

async function grant(
  world: World,
  user: Caller,
  operator: Caller,
  place: number,
  history: History,
) {
  const { scheduler, random } = world;
  await scheduler.sleep(random.integer(0, startWithinMs));
  const { userId } = user.principal;
  const granted: Grant = {
    userId,
    key: `grant-${place}`,
    amount: random.integer(1, 500),
    answered: false,
  };
  history.grants.push(granted);
  const request = { userId, amount: BigInt(granted.amount) };
  const reply = await callUntilAnswered(
    world,
    operator,
    OperatorService.method.grantCredits,
    request,
    granted.key,
  );
  granted.answered = reply.end === 'answered';
}

/**
 * Approves most of the jobs awaiting approval, rejects the others, and sometimes does both
 * concurrently. Never ends.
 */
async function decide(world: World, operator: Caller): Promise<void> {
  const { scheduler, random } = world;
  const { approveJob, rejectJob } = OperatorService.method;
  for (;;) {
    await scheduler.sleep(random.integer(5_000, 25_000));
    const reply = await operator.call(JobService.method.listJobs, { status: 'awaiting_approval' });
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

/** Reads a user's jobs, cancels some running ones, and retries some failed ones. */
async function cancelAndRetry(
  world: World,
  user: Caller,
  operator: Caller,
  history: History,
): Promise<void> {
  const { scheduler, random } = world;
  const { listJobs, cancelJob, listUnits } = JobService.method;
  for (let round = 0; round < 4; round++) {
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

/** Retries a job's failed units, sometimes with two concurrent calls. */
async function retry(world: World, caller: Caller, jobId: string, history: History): Promise<void> {
  const { random } = world;
  const key = `retry-${history.retries.size + 1}`;
  const answered = new Set<string>();
  history.retries.set(key, answered);
  const one = async () => {
    const reply = await callUntilAnswered(
      world,
      caller,
      JobService.method.retryJob,
      { jobId },
      key,
    );
    if (reply.end === 'answered') answered.add(reply.message.jobId);
  };
  await Promise.all(random.once(3) ? [one(), one()] : [one()]);
}
