import type { FieldDrift } from '../quality/alarms.ts';
import type { User } from '../store/documents.ts';
import { driftRemedy, type Waiting } from './message.ts';

/** Subject and plain text of an email. */
export interface Email {
  subject: string;
  text: string;
}

/** Thrown when the mail server did not accept an email. */
export class MailFault extends Error {
  /**
   * True if retrying is pointless because the server permanently refused the address or the
   * message.
   */
  readonly final: boolean;

  constructor(message: string, final: boolean, cause: unknown) {
    super(message, { cause });
    this.final = final;
  }
}

const minuteMs = 60_000;

/** Formats the email that asks operators to decide on a job. */
export function waitingEmail(
  type: 'job.awaiting_approval' | 'job.approval_expiring',
  { job, user, link, scheduleLink, now }: Waiting,
): Email {
  const { decideBy, schedule, region } = job;
  const name = user === null ? job.userId : oneLine(user.name);
  const kindAndMarket = `${job.kind} on ${job.market}`;
  const description = region === '' ? kindAndMarket : `${kindAndMarket} (${region})`;
  const remaining = decideBy === null ? '' : formatDuration(decideBy - now);
  const isExpiring = type === 'job.approval_expiring';
  const balance = user?.balance ?? 0;
  const missing = job.cost - balance;
  const shortage = missing > 0 ? ` (${missing} short, if the job is not charged yet)` : '';
  const lines = [
    isExpiring
      ? `A job is still awaiting approval. It will be rejected in ${remaining} unless an operator decides.`
      : 'A job is awaiting approval.',
    '',
    `User:      ${nameOf(user, job.userId)}`,
    `Job:       ${description}, ${count(job.totalUnits, 'unit')}`,
  ];
  if (schedule !== null)
    lines.push(
      `Schedule:  ${scheduleLink}. An approval covers its later runs at this cost or below.`,
    );
  lines.push(`Cost:      ${count(job.cost, 'credit')}`);
  lines.push(`Balance:   ${count(balance, 'credit')}${shortage}`);
  if (decideBy !== null) lines.push(`Time left: ${remaining}, until ${formatUtc(decideBy)}`);
  lines.push('', `Approve or reject: ${link}`);
  const state = isExpiring ? `Expires in ${remaining}` : 'Awaiting approval';
  const subject = `${state}: job of ${name}, ${count(job.cost, 'credit')}`;
  return { subject, text: `${lines.join('\n')}\n` };
}

/** Returns the name and the email address of a user, or the id of a deleted one. */
function nameOf(user: Pick<User, 'name' | 'email'> | null, userId: string): string {
  if (user === null) return userId;
  return oneLine(user.email === '' ? user.name : `${user.name} <${user.email}>`);
}

/** Formats a share from 0 to 1. Only none is "0 %", and only all is "100 %". */
function percent(share: number | null): string {
  if (share === null || share === 0) return '0 %';
  return share === 1 ? '100 %' : `${Math.min(99, Math.max(1, Math.round(share * 100)))} %`;
}

/** Formats the email about fields that are newly missing from pages of a marketplace. */
export function driftEmail(fields: readonly FieldDrift[]): Email {
  const { market, page } = fields[0]!;
  const lines = fields.map(
    ({ field, absent, baseline }) =>
      `${oneLine(field)}: missing from ${percent(absent)} of the newest pages, before from ${percent(baseline)}`,
  );
  return {
    subject: `Fields are missing from ${market} ${page}: the site may have changed`,
    text: `Pages of ${market} (${page}) lack fields that they had before:\n\n${lines.join('\n')}\n\n${driftRemedy({ market, page })}\n`,
  };
}

/** Formats the email about an ended job that lacks fields which earlier pages had. */
export function missingFieldsEmail(fields: readonly FieldDrift[], link: string): Email {
  const { market, page } = fields[0]!;
  const names = fields.map(({ field }) => oneLine(field)).join(', ');
  return {
    subject: `A job lacks fields of ${market} ${page} that earlier pages had`,
    text: `No record of this job has a value for ${names}:\n\n${link}\n\nPages of ${market} (${page}) had these fields before: gleaner drift list --all\n`,
  };
}

/** Returns the email that operators send to test their settings. */
export function testEmail(): Email {
  return {
    subject: 'Gleaner test notification',
    text: 'Notifications about jobs awaiting approval will be sent to this address.\n',
  };
}

const count = (number: number, what: string) => `${number} ${what}${number === 1 ? '' : 's'}`;

/**
 * Removes line breaks and control characters, so that a name or a title cannot start a line or a
 * header.
 */
export function oneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression matches control characters to remove them.
  return text.replace(/[\u0000-\u001f\u007f\u2028\u2029]+/g, ' ').slice(0, 200);
}

const formatUtc = (ms: number) =>
  `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

function formatDuration(ms: number): string {
  const minutes = Math.max(0, Math.round(ms / minuteMs));
  return minutes < 120 ? count(minutes, 'minute') : count(Math.round(minutes / 60), 'hour');
}
