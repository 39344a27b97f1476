import nodemailer from 'nodemailer';
import type { SmtpSettings } from '../base/notice-settings.ts';
import type { Email } from './email.ts';

/** An e-mail to one address. */
export interface Mail extends Email {
  /** Names it, the same at every try, so that what comes twice can be known for it. */
  id: string;
  from: string;
  to: string;
  /** When it was written, milliseconds since the epoch. */
  at: number;
}

/** Hands e-mails to a mail server. */
export interface Mailer {
  /** Resolves once the server has taken it; rejects with a MailFault, or with the signal's reason. */
  send(mail: Mail, signal: AbortSignal): Promise<void>;
  /** Ends every connection. */
  close(): void;
}

/** Why a mail server did not take an e-mail. */
export class MailFault extends Error {
  /** Whether trying again is of no use: the server refused this address or this e-mail for good. */
  readonly final: boolean;

  constructor(message: string, final: boolean, cause: unknown) {
    super(message, { cause });
    this.final = final;
  }
}

/** Connections to the server at once, of one process. */
const connections = 2;

/** How long a mail server may take, in milliseconds. */
export interface MailTimes {
  /** For each of its answers. */
  stepMs: number;
  /** For a message. */
  totalMs: number;
}

/** Makes the mailer. */
export function createMailer(smtp: SmtpSettings, { stepMs, totalMs }: MailTimes): Mailer {
  const { host, port, tls, login } = smtp;
  const transport = nodemailer.createTransport({
    pool: true,
    maxConnections: connections,
    host,
    port,
    secure: tls === 'always',
    requireTLS: tls === 'required',
    ignoreTLS: tls === 'off',
    ...(login === null ? {} : { auth: { user: login.user, pass: login.password } }),
    connectionTimeout: stepMs,
    greetingTimeout: stepMs,
    socketTimeout: stepMs,
    dnsTimeout: stepMs,
    // What a message holds is text of ours: nothing is to be read from files or addresses in it.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    async send({ id, from, to, at, subject, text }, signal) {
      signal.throwIfAborted();
      const domain = /@([^<>@]+)>?$/.exec(from)?.[1] ?? 'localhost';
      try {
        await transport.sendMail({
          messageId: `<${id}@${domain}>`,
          date: new Date(at),
          // Vacation notices and the like are not to answer it.
          headers: { 'Auto-Submitted': 'auto-generated' },
          from,
          to,
          subject,
          text,
          signal: AbortSignal.any([signal, AbortSignal.timeout(totalMs)]),
        });
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        throw mailFault(error);
      }
    },
    close: () => transport.close({ force: true }),
  };
}

function mailFault(thrown: unknown): MailFault {
  const { code, responseCode, message } = thrown as Error & { code?: string; responseCode?: number };
  // A login or a connection that was refused may be mended in the configuration; a refused address is not.
  const final = (code === 'EENVELOPE' || code === 'EMESSAGE') && (responseCode ?? 0) >= 500;
  return new MailFault(message.slice(0, 500), final, thrown);
}
