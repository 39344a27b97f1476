import type { AddressInfo } from 'node:net';
import express from 'express';

// Baseline of the gateway: Express that responds to each given path with fixed bytes.
const responses = JSON.parse(process.argv[2]!) as Record<string, string>;
const app = express();
app.disable('etag');
for (const [path, body] of Object.entries(responses))
  app.get(path, (_request, response) => void response.type('application/json').send(body));
const server = app.listen(0, '127.0.0.1', () =>
  process.send!((server.address() as AddressInfo).port),
);
server.keepAliveTimeout = 65_000;
process.once('disconnect', () => process.exit(0));
