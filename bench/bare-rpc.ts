import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo, Server } from 'node:net';
import { fromJsonString } from '@bufbuild/protobuf';
import type { ConnectRouter } from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { AccountService } from '../gen/gleaner/account/v1/account_pb.ts';

/** Ports of the bare RPC service. */
export interface BareRpcPorts {
  http1: number;
  http2: number;
}

// Baseline of RPC: connect-node that responds to GetAccount with a fixed message.
const { getAccount } = AccountService.method;
const account = fromJsonString(getAccount.output, process.argv[2]!);
const routes = (router: ConnectRouter) => void router.rpc(getAccount, () => account);
const listen = async (server: Server) => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
};
const ports: BareRpcPorts = {
  http1: await listen(createServer({ keepAliveTimeout: 65_000 }, connectNodeAdapter({ routes }))),
  http2: await listen(createHttp2Server(connectNodeAdapter({ routes }))),
};
process.once('disconnect', () => process.exit(0));
process.send!(ports);
