import nodemailer from 'nodemailer';
import type { SmtpSettings } from '../base/notification-settings.ts';
import { type Email, MailFault } from './email.ts';

/** An email to one address. */
export interface Mail extends Email {
  /** Part of the Message-ID, equal for all attempts so that receivers recognize duplicates. */
  id: string;
  from: string;
  to: string;
  /** Time of the Date header, in milliseconds since the epoch. */
  at: number;
}

/** Sends emails through an SMTP server. */
export interface Mailer {
  /**
   * Resolves once the server has accepted the email. Rejects with a MailFault, or with the signal's
   * reason.
   */
  send(mail: Mail, signal: AbortSignal): Promise<void>;
  /** Closes all connections. */
  close(): void;
}

/** Concurrent SMTP connections of a process. */
const maxConnections = 2;

/** Timeouts of a mailer, in milliseconds. */
export interface MailTimeouts {
  /** For each reply of the server. */
  stepMs: number;
  /** For a whole message. */
  totalMs: number;
}

/** Creates a mailer with pooled connections. */
export function createMailer(smtp: SmtpSettings, { stepMs, totalMs }: MailTimeouts): Mailer {
  const { host, port, tls, login } = smtp;
  const transport = nodemailer.createTransport({
    pool: true,
    maxConnections,
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
    // Messages are plain text; nodemailer must not load attachments from paths or URLs in them.
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
          // Suppresses automatic replies such as vacation notices (RFC 3834).
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
  const { code, responseCode, message } = thrown as Error & {
    code?: string;
    responseCode?: number;
  };
  // A refused login or connection can be fixed in the configuration; a refused address or message
  // cannot.
  const final = (code === 'EENVELOPE' || code === 'EMESSAGE') && (responseCode ?? 0) >= 500;
  return new MailFault(message.slice(0, 500), final, thrown);
}
