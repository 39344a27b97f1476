import { createHash } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { component } from 'http-message-sig';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type SignedMessage, verifyMessage } from '../../test/support/servers/message-signature.ts';
import { createLog } from '../base/log.ts';
import { parseOrigins } from '../base/origins.ts';
import { followRedirects } from './fetch-session.ts';
import { createHttpFetcher } from './http.ts';
import { createBotIdentity, createBotKey, signMessage } from './web-bot-auth.ts';

/** Test key of RFC 9421, section B.1.4. */
const jwk = { kty: 'OKP', crv: 'Ed25519', x: 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs' };
const seed = Buffer.from('n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU', 'base64url');
const keyid = 'poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U';
const key = createBotKey(seed);

/** The request of the examples of the draft, which are signed from 2025 to 2124. */
const targetUri = 'https://example.com/path/to/resource';
const validity = { created: 1735689600, expires: 4889289600 };

describe('signMessage()', () => {
  test('signs the example of RFC 9421, section B.2.6', () => {
    const headers = {
      date: 'Tue, 20 Apr 2021 02:07:55 GMT',
      'content-type': 'application/json',
      'content-length': '18',
    };
    const url = 'https://example.com/foo?param=Value&Pet=dog';
    const fields = Object.entries(headers).map(([name, value]) => ({ name, value }));
    const { signature, signatureInput } = signMessage(
      key,
      { kind: 'request', method: 'POST', targetUri: url, fields },
      {
        label: 'sig-b26',
        components: ['date', '@method', '@path', '@authority', 'content-type', 'content-length'],
        parameters: { created: 1618884473, keyid: 'test-key-ed25519' },
      },
    );
    expect(signatureInput).toBe(
      'sig-b26=("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"',
    );
    expect(signature).toBe(
      'sig-b26=:wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==:',
    );
    const signed = { ...headers, signature, 'signature-input': signatureInput };
    expect(verifyMessage({ method: 'POST', url, headers: signed }, () => jwk)).toHaveLength(1);
  });

  test('signs the example of the draft with an agent in the dictionary form', () => {
    const agent = 'agent2="https://signature-agent.test"';
    const nonce =
      'n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQtFioQb6E1YsauiA==';
    const { created, expires } = validity;
    const { signature, signatureInput } = signMessage(
      key,
      {
        kind: 'request',
        method: 'GET',
        targetUri,
        fields: [{ name: 'signature-agent', value: agent }],
      },
      {
        label: 'sig2',
        components: ['@authority', component('signature-agent', { key: 'agent2' })],
        parameters: { created, keyid, alg: 'ed25519', expires, nonce, tag: 'web-bot-auth' },
      },
    );
    expect(signatureInput).toBe(
      `sig2=("@authority" "signature-agent";key="agent2");created=1735689600;keyid="${keyid}";alg="ed25519";expires=4889289600;nonce="${nonce}";tag="web-bot-auth"`,
    );
    expect(signature).toBe(
      'sig2=:RdNFx5Bj6au3YgAMQL/RzmUlZE8QZLIaXGRpw985hWnwPfMxT228NMk6ehRS1PSl4e8PhbNZACSanGdhEwYCCg==:',
    );
    const headers = { 'signature-agent': agent, signature, 'signature-input': signatureInput };
    expect(verifyMessage({ method: 'GET', url: targetUri, headers }, () => jwk)).toHaveLength(1);
  });

  test('signs the example of the draft with a directory', () => {
    const body = JSON.stringify({
      keys: [{ kty: 'OKP', crv: 'Ed25519', kid: keyid, x: jwk.x, use: 'sig' }],
    });
    const digest = `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;
    expect(digest).toBe('sha-256=:CADMT2aBdV/rqQr/NIru64ERQkCobVvllA4V0fLFDu0=:');
    const url = 'https://signature-agent.test/.well-known/http-message-signatures-directory';
    const { signature } = signMessage(
      key,
      {
        kind: 'response',
        status: 200,
        fields: [{ name: 'content-digest', value: digest }],
        request: { kind: 'request', method: 'GET', targetUri: url, fields: [] },
      },
      {
        label: 'binding',
        components: [component('@authority', { req: true }), 'content-digest'],
        parameters: { ...validity, keyid, tag: 'http-message-signatures-directory' },
      },
    );
    expect(signature).toBe(
      'binding=:l6P8R67tm3kujAxbHWio7ll01qrEZ0dKD/WWlGhNYEmTnFZM8Wt0VQ9zqGfvo7T/UMkBxsigzChM1Gpz7gOVBg==:',
    );
  });
});

describe('createBotKey()', () => {
  test('returns the public key of a seed and its thumbprint', () => {
    expect(key.jwk).toEqual({ ...jwk, kid: keyid, use: 'sig' });
    expect(key.keyid).toBe(keyid);
  });
});

const now = 1_767_225_600_500;
const older = Buffer.alloc(32, 7);
const identity = createBotIdentity({
  seeds: [seed, older],
  agent: 'https://gleaner.example',
  clock: { now: () => now },
});

describe('createBotIdentity()', () => {
  test('directory() returns all keys with a signature by each, bound to the own authority', () => {
    const { headers, body } = identity.directory();
    const keys = JSON.parse(body).keys as (typeof jwk & { kid: string })[];
    expect(keys.map(({ kid }) => kid)).toEqual([keyid, createBotKey(older).keyid]);
    expect(headers['content-type']).toBe('application/http-message-signatures-directory+json');
    expect(headers['content-digest']).toBe(
      `sha-256=:${createHash('sha256').update(body).digest('base64')}:`,
    );
    const request = { method: 'GET', url: 'https://gleaner.example/', headers: {} };
    const keyOf = (id: string) => keys.find(({ kid }) => kid === id);
    const signatures = verifyMessage({ headers, request }, keyOf);
    const tag = 'http-message-signatures-directory';
    expect(signatures.map(({ parameters }) => parameters)).toEqual(
      keys.map(({ kid }) => ({ created: 1767225600, expires: 1767312000, tag, keyid: kid })),
    );
    const elsewhere = { ...request, url: 'https://other.example/' };
    expect(() => verifyMessage({ headers, request: elsewhere }, keyOf)).toThrow('is not valid');
  });

  test('signRequest() signs method, authority, and path with the newest key, and a new nonce each time', () => {
    const url = 'https://shop.example:8443/p/1?q=2';
    const headers = identity.signRequest('GET', url);
    const [signature] = verifyMessage({ method: 'GET', url, headers }, (id) =>
      id === keyid ? jwk : undefined,
    );
    const { nonce, ...parameters } = signature!.parameters;
    expect(parameters).toEqual({
      created: 1767225600,
      expires: 1767225900,
      keyid,
      tag: 'web-bot-auth',
    });
    expect(Buffer.from(`${nonce}`, 'base64')).toHaveLength(64);
    expect(headers['signature-agent']).toBe('sig1="https://gleaner.example"');
    expect(identity.signRequest('GET', url)['signature-input']).not.toContain(`${nonce}`);
    for (const other of [
      { method: 'POST', url },
      { method: 'GET', url: 'https://shop.example/p/1' },
      { method: 'GET', url: 'https://shop.example:8443/p/2' },
    ])
      expect(() => verifyMessage({ ...other, headers }, () => jwk)).toThrow('is not valid');
  });
});

describe('createHttpFetcher() with signed requests', () => {
  const received: SignedMessage[] = [];
  const server = http.createServer(({ method = '', url = '', headers }, response) => {
    received.push({ method, url: `http://${headers.host}${url}`, headers });
    if (url === '/moved') response.writeHead(302, { location: '/p/1?q=2' }).end();
    else response.end('a page');
  });
  let address = '';
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  test('signs each request and each redirect of the markets with sign only', async () => {
    const origins = parseOrigins(
      JSON.stringify({ mkta: { sg: address, sign: true }, mktb: { id: address, sign: false } }),
    );
    const clock = { now: () => now, steady: () => now, sleep: async () => {} };
    const { signRequest } = identity;
    const log = createLog('silent', 'test');
    const fetcher = createHttpFetcher({ origins, clock, log, userAgent: 'Test', signRequest });
    const fetchPage = followRedirects(fetcher.for('mkta', 'sg'));
    const { status } = await fetchPage({ path: '/moved', redirects: 'same_origin' });
    await fetchPage({ method: 'POST', path: '/graph', body: '{}' });
    await fetcher.for('mktb', 'id')({ path: '/plain' });
    await fetcher.close();
    expect(status).toBe(200);
    const plain = received.pop()!;
    expect(Object.keys(plain.headers).filter((name) => name.startsWith('signature'))).toEqual([]);
    expect(received.map(({ method, url }) => `${method} ${url!.slice(address.length)}`)).toEqual([
      'GET /moved',
      'GET /p/1?q=2',
      'POST /graph',
    ]);
    const signatures = received.flatMap((message) => verifyMessage(message, () => jwk));
    expect(new Set(signatures.map(({ parameters }) => parameters.nonce)).size).toBe(3);
    expect(signatures[0]!.components).toEqual([
      '"@authority"',
      '"@method"',
      '"@path"',
      '"signature-agent";key="sig1"',
    ]);
  });
});
