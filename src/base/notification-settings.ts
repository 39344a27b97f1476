/** Recipients and senders of job notifications. */
export interface NoticeSettings {
  /** Webhook for operators, and the secret that signs its messages. */
  operatorWebhook: { url: string; secret: string } | null;
  /** Email recipients among the operators. */
  email: { smtp: SmtpSettings; from: string; to: readonly string[] } | null;
  /** True if users' webhooks may be in private networks. */
  privateWebhooks: boolean;
}

export interface SmtpSettings {
  host: string;
  port: number;
  /**
   * `always`: TLS from the first byte. `required`: STARTTLS, or nothing is sent. `offered`:
   * STARTTLS if the server offers it. `off`: no TLS.
   */
  tls: 'always' | 'required' | 'offered' | 'off';
  login: { user: string; password: string } | null;
}

/**
 * Parses `smtp://` or `smtps://` with percent-encoded user and password, and `?tls=required`,
 * `offered`, or `off`. A password is sent only over TLS unless `tls` says otherwise. Throws an
 * Error that states the problem.
 */
export function parseSmtp(text: string): SmtpSettings {
  const url = /^smtps?:\/\//.test(text) ? URL.parse(text) : null;
  if (url === null)
    throw new Error('expected smtp://user:password@host:587 or smtps://user:password@host:465');
  if (url.hostname === '') throw new Error('expected the name of a host');
  if (!/^\/?$/.test(url.pathname) || url.hash !== '') throw new Error('expected no path');
  for (const name of url.searchParams.keys())
    if (name !== 'tls') throw new Error(`'${name}' is not an option`);
  const login = loginOf(url);
  const defaultPort = url.protocol === 'smtps:' ? 465 : 587;
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? defaultPort : Number(url.port),
    tls: tlsOf(url, login === null ? 'offered' : 'required'),
    login,
  };
}

function loginOf({ username, password }: URL): SmtpSettings['login'] {
  if (username === '') return null;
  return { user: decodeURIComponent(username), password: decodeURIComponent(password) };
}

function tlsOf(url: URL, defaultTls: 'offered' | 'required'): SmtpSettings['tls'] {
  const tls = url.searchParams.get('tls') ?? defaultTls;
  if (tls !== 'required' && tls !== 'offered' && tls !== 'off')
    throw new Error('tls: expected required, offered or off');
  if (url.protocol !== 'smtps:') return tls;
  if (url.searchParams.has('tls')) throw new Error('tls: smtps:// is TLS always');
  return 'always';
}

/** Parses email addresses separated by commas. Throws an Error that names the first invalid one. */
export function parseAddresses(text: string): string[] {
  const addresses = text.split(',').map((address) => address.trim());
  for (const address of addresses) {
    if (!isEmailAddress(address)) throw new Error(`'${address}' is not an email address`);
  }
  return [...new Set(addresses)];
}

/** Parses one sender: an address, or a name followed by the address in angle brackets. */
export function parseSender(text: string): string {
  const address = /^[^<>\r\n]*<([^<>]+)>$/.exec(text)?.[1] ?? text;
  if (!isEmailAddress(address)) throw new Error('expected an email address, or Name <address>');
  return text;
}

/** Returns true for an email address. */
export const isEmailAddress = (text: string) =>
  text.length <= 254 && /^[^\s@<>,;"]+@[^\s@<>,;"]+$/.test(text);

/** Parses a Standard Webhooks signing secret: `whsec_` followed by 24 to 64 bytes as base64. */
export function parseWebhookSecret(text: string): string {
  const base64 = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text)?.[1];
  const bytes = base64 === undefined ? 0 : Buffer.from(base64, 'base64').length;
  if (bytes < 24 || bytes > 64) throw new Error('expected whsec_ and 24 to 64 bytes as base64');
  return text;
}

/** Parses the URL of a webhook that operators configure: any http or https URL. */
export function parseWebhookUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new Error('expected an http or https URL');
  if (url.username !== '' || url.password !== '')
    throw new Error('expected no user name or password in it');
  url.hash = '';
  return url.href;
}
