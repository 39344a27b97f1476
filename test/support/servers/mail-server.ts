import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { certificate } from './certificate.ts';

/** An email received by the server. */
export interface ReceivedMail {
  from: string;
  to: string[];
  /** Authenticated user. Undefined if there is no login. */
  user: string | undefined;
  /** True if it was received over TLS. */
  secure: boolean;
  /** Header lines, unfolded, by lower-case name. */
  headers: Record<string, string>;
  text: string;
}

/**
 * Behavior of the server. A hook that returns an Error refuses the command with its `responseCode`.
 */
export interface MailBehavior {
  /** Required login. */
  login?: { user: string; password: string };
  /** Offers STARTTLS, no TLS, or TLS from the first byte (`secure`). */
  tls?: 'offered' | 'none' | 'secure';
  recipient?(address: string): Error | null;
  data?(): Error | null;
  /** Accepts connections but never sends a greeting. */
  mute?: boolean;
}

/** An SMTP server on a free port. */
export interface MailServer {
  readonly port: number;
  readonly received: ReceivedMail[];
  /** Resolves once `count` emails have been received. */
  waitForMails(count: number): Promise<void>;
  /** Resolves when the next client has connected, before the greeting. */
  nextConnection(): Promise<void>;
  /** Returns the number of connections accepted. */
  connections(): number;
  close(): Promise<void>;
}

/** Creates the error that makes the server refuse a command. */
export const refusal = (responseCode: number, message: string) =>
  Object.assign(new Error(message), { responseCode });

/** Starts an SMTP server. `behavior` may be changed while it runs. */
export async function startMailServer(behavior: MailBehavior = {}): Promise<MailServer> {
  const received: ReceivedMail[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  let connections = 0;
  const { login, tls = 'offered' } = behavior;
  const options: SMTPServerOptions = {
    ...certificate,
    secure: tls === 'secure',
    disabledCommands: [...(tls === 'none' ? ['STARTTLS'] : []), ...(login ? [] : ['AUTH'])],
    authOptional: login === undefined,
    // Some tests log in without TLS.
    allowInsecureAuth: true,
    disableReverseLookup: true,
    onConnect(_session, callback) {
      connections += 1;
      if (!behavior.mute) callback();
    },
    onAuth({ username, password }, _session, callback) {
      if (username === login?.user && password === login?.password)
        callback(null, { user: username });
      else callback(refusal(535, 'Wrong user name or password'));
    },
    onRcptTo({ address }, _session, callback) {
      callback(behavior.recipient?.(address) ?? null);
    },
    onData(stream, session, callback) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const refused = behavior.data?.() ?? null;
        if (refused === null) {
          const { mailFrom, rcptTo } = session.envelope;
          received.push({
            from: mailFrom === false ? '' : mailFrom.address,
            to: rcptTo.map(({ address }) => address),
            user: session.user,
            secure: session.secure,
            ...parseMail(Buffer.concat(chunks).toString()),
          });
          for (const { count, resolve } of waiting) if (received.length >= count) resolve();
        }
        callback(refused);
      });
    },
  };
  const server = new SMTPServer(options);
  // Some tests abort connections on purpose.
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.server.address() as AddressInfo).port,
    received,
    nextConnection: () =>
      new Promise((resolve) => server.server.once('connection', () => resolve())),
    waitForMails: (count) =>
      new Promise((resolve) => {
        if (received.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
    connections: () => connections,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function parseMail(source: string): Pick<ReceivedMail, 'headers' | 'text'> {
  const end = source.indexOf('\r\n\r\n');
  const lines = source
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  const headers = lines.map((line) => [
    line.slice(0, line.indexOf(':')).toLowerCase(),
    line.slice(line.indexOf(':') + 1).trim(),
  ]);
  const fields = Object.fromEntries(headers) as Record<string, string>;
  const text = source.slice(end + 4).replaceAll('\r\n', '\n');
  const quoted = fields['content-transfer-encoding'] === 'quoted-printable';
  return { headers: fields, text: quoted ? decodeQuotedPrintable(text) : text };
}

/** Decodes quoted-printable UTF-8 text. */
function decodeQuotedPrintable(text: string): string {
  const bytes = text
    .replace(/=\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_match, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
