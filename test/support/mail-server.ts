import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { certificate } from './certificate.ts';

/** An e-mail as it came. */
export interface ReceivedMail {
  from: string;
  to: string[];
  /** User that was logged in. */
  user: string | undefined;
  /** Whether it came over TLS. */
  secure: boolean;
  /** Header lines, unfolded, by lower-case name. */
  headers: Record<string, string>;
  text: string;
}

/** How the server behaves; what answers an Error is refused with its `responseCode`. */
export interface MailManners {
  /** The login that is demanded. */
  login?: { user: string; password: string };
  /** Whether STARTTLS is offered; `secure`: TLS from the first byte. */
  tls?: 'offered' | 'none' | 'secure';
  recipient?(address: string): Error | null;
  data?(): Error | null;
  /** Says nothing once connected. */
  mute?: boolean;
}

/** A real mail server, on a port of its own. */
export interface MailServer {
  readonly port: number;
  readonly received: ReceivedMail[];
  /** Resolves once so many e-mails have come. */
  came(count: number): Promise<void>;
  /** Connections that were made. */
  connections(): number;
  close(): Promise<void>;
}

/** What a mail server answers a command with when it does not want it. */
export const refusal = (responseCode: number, message: string) =>
  Object.assign(new Error(message), { responseCode });

/** Starts one. What it is told of its manners may be changed while it runs. */
export async function startMailServer(manners: MailManners = {}): Promise<MailServer> {
  const received: ReceivedMail[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  let connections = 0;
  const { login, tls = 'offered' } = manners;
  const options: SMTPServerOptions = {
    ...certificate,
    secure: tls === 'secure',
    disabledCommands: [...(tls === 'none' ? ['STARTTLS'] : []), ...(login ? [] : ['AUTH'])],
    authOptional: login === undefined,
    // Lets a client send its password where nobody encrypts.
    allowInsecureAuth: true,
    disableReverseLookup: true,
    onConnect(_session, callback) {
      connections += 1;
      if (!manners.mute) callback();
    },
    onAuth({ username, password }, _session, callback) {
      if (username === login?.user && password === login?.password) callback(null, { user: username });
      else callback(refusal(535, 'Wrong user name or password'));
    },
    onRcptTo({ address }, _session, callback) {
      callback(manners.recipient?.(address) ?? null);
    },
    onData(stream, session, callback) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const refused = manners.data?.() ?? null;
        if (refused === null) {
          const { mailFrom, rcptTo } = session.envelope;
          received.push({
            from: mailFrom === false ? '' : mailFrom.address,
            to: rcptTo.map(({ address }) => address),
            user: session.user,
            secure: session.secure,
            ...parsed(Buffer.concat(chunks).toString()),
          });
          for (const { count, resolve } of waiting) if (received.length >= count) resolve();
        }
        callback(refused);
      });
    },
  };
  const server = new SMTPServer(options);
  // A client that breaks off is what some tests are about.
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.server.address() as AddressInfo).port,
    received,
    came: (count) =>
      new Promise((resolve) => {
        if (received.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
    connections: () => connections,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function parsed(source: string): Pick<ReceivedMail, 'headers' | 'text'> {
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
  return { headers: fields, text: quoted ? unquoted(text) : text };
}

/** Text of quoted-printable, UTF-8. */
function unquoted(text: string): string {
  const bytes = text
    .replace(/=\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_match, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
