import { plain } from '../contract/plain.ts';
import type { FieldDrift } from '../quality/alarms.ts';
import type { User } from '../store/documents.ts';
import { driftRemedy, type Waiting } from './message.ts';

/** Subject and plain text of an email. */
export interface Email {
  subject: string;
  text: string;
}

/**
 * Creates an email of a subject and lines. A name or a title in them cannot start a line or a
 * header, nor reverse the text after it.
 */
export const createEmail = (subject: string, lines: readonly string[]): Email => ({
  subject: plain(subject),
  text: `${lines.map(plain).join('\n')}\n`,
});

/** Maximum characters of a name or a title. */
const maxNameLength = 200;

/** Cuts a name or a title. */
export const cutName = (name: string): string => name.slice(0, maxNameLength);

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
  const name = user === null ? job.userId : cutName(user.name);
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
  return createEmail(subject, lines);
}

/** Returns the name and the email address of a user, or the id of a deleted one. */
function nameOf(user: Pick<User, 'name' | 'email'> | null, userId: string): string {
  if (user === null) return userId;
  return cutName(user.email === '' ? user.name : `${user.name} <${user.email}>`);
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
      `${cutName(field)}: missing from ${percent(absent)} of the newest pages, before from ${percent(baseline)}`,
  );
  return createEmail(`Fields are missing from ${market} ${page}: the site may have changed`, [
    `Pages of ${market} (${page}) lack fields that they had before:`,
    '',
    ...lines,
    '',
    ...driftRemedy({ market, page }),
  ]);
}

/** Formats the email about an ended job that lacks fields which earlier pages had. */
export function missingFieldsEmail(fields: readonly FieldDrift[], link: string): Email {
  const { market, page } = fields[0]!;
  const names = fields.map(({ field }) => cutName(field)).join(', ');
  return createEmail(`A job lacks fields of ${market} ${page} that earlier pages had`, [
    `No record of this job has a value for ${names}:`,
    '',
    link,
    '',
    `Pages of ${market} (${page}) had these fields before: gleaner drift list --all`,
  ]);
}

/** Returns the email that operators send to test their settings. */
export function testEmail(): Email {
  return createEmail('Gleaner test notification', [
    'Notifications about jobs awaiting approval will be sent to this address.',
  ]);
}

const count = (number: number, what: string) => `${number} ${what}${number === 1 ? '' : 's'}`;

const formatUtc = (ms: number) =>
  `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

function formatDuration(ms: number): string {
  const minutes = Math.max(0, Math.round(ms / minuteMs));
  return minutes < 120 ? count(minutes, 'minute') : count(Math.round(minutes / 60), 'hour');
}
