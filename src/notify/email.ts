import type { Waiting } from './message.ts';

/** An e-mail's words. */
export interface Email {
  subject: string;
  text: string;
}

const minuteMs = 60_000;

/** The same as a notice of a waiting job, for people. */
export function waitingEmail(
  type: 'job.awaiting_approval' | 'job.approval_expiring',
  { job, user, link, now }: Waiting,
): Email {
  const who =
    user === null ? job.userId : oneLine(user.email === '' ? user.name : `${user.name} <${user.email}>`);
  const what = `${job.kind} on ${job.market}${job.region === '' ? '' : ` (${job.region})`}`;
  const left = job.decideBy === null ? '' : inWords(job.decideBy - now);
  const expiring = type === 'job.approval_expiring';
  const balance = user?.balance ?? 0;
  const short = job.cost - balance;
  const lines = [
    expiring
      ? `A job still waits for approval. It is rejected in ${left} unless someone decides.`
      : 'A job waits for approval.',
    '',
    `Who:       ${who}`,
    `What:      ${what}, ${count(job.totalUnits, 'unit')}`,
    `Cost:      ${count(job.cost, 'credit')}`,
    `Balance:   ${count(balance, 'credit')}${short > 0 ? `: ${short} too few, where none were charged yet` : ''}`,
    ...(job.decideBy === null ? [] : [`Time left: ${left}, until ${inUtc(job.decideBy)}`]),
    '',
    `Decide: ${link}`,
  ];
  const subject = expiring
    ? `Expires in ${left}: job of ${user === null ? job.userId : oneLine(user.name)}`
    : `Awaiting approval: job of ${user === null ? job.userId : oneLine(user.name)}`;
  return { subject: `${subject}, ${count(job.cost, 'credit')}`, text: `${lines.join('\n')}\n` };
}

/** What a test says. */
export function testEmail(): Email {
  return {
    subject: 'Test of notifications',
    text: 'Messages about jobs that wait for approval arrive here.\n',
  };
}

const count = (number: number, what: string) => `${number} ${what}${number === 1 ? '' : 's'}`;

/** Names are the users' own: nothing of them may begin a line or a header. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is taken out.
const oneLine = (text: string) => text.replace(/[\u0000-\u001f\u007f\u2028\u2029]+/g, ' ').slice(0, 200);

const inUtc = (ms: number) => `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

function inWords(ms: number): string {
  const minutes = Math.max(0, Math.round(ms / minuteMs));
  return minutes < 120 ? count(minutes, 'minute') : count(Math.round(minutes / 60), 'hour');
}
