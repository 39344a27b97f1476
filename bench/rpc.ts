import { toJsonString } from '@bufbuild/protobuf';
import { createGleanerClient } from '../clients/typescript/index.ts';
import { AccountService } from '../gen/gleaner/account/v1/account_pb.ts';
import type { BareRpcPorts } from './bare-rpc.ts';
import type { RpcLoad } from './rpc-load.ts';
import { type BenchProgram, startBenchProgram } from './support/program.ts';
import { interleave, median } from './support/rounds.ts';
import { startService } from './support/service.ts';
import { processorMs } from './support/usage.ts';

/** Median CPU time of the server per call in microseconds over one protocol. */
export interface RpcResult {
  protocol: string;
  /** With the complete service, which looks up the key and the account. */
  gleanerUs: number;
  /** With connect-node responding with the same message. */
  bareUs: number;
}

const { getAccount } = AccountService.method;

/** An empty message of gRPC: flags and length. */
const emptyEnvelope = Buffer.alloc(5).toString('base64');

const protocols = [
  {
    protocol: 'Connect, HTTP/1.1',
    httpVersion: 1,
    headers: { 'content-type': 'application/proto', 'connect-protocol-version': '1' },
    body: '',
    ending: '',
  },
  {
    protocol: 'Connect, h2c',
    httpVersion: 2,
    headers: { 'content-type': 'application/proto', 'connect-protocol-version': '1' },
    body: '',
    ending: '',
  },
  {
    protocol: 'gRPC, h2c',
    httpVersion: 2,
    headers: { 'content-type': 'application/grpc', te: 'trailers' },
    body: emptyEnvelope,
    ending: '"grpc-status":"0"',
  },
  {
    protocol: 'gRPC-Web, HTTP/1.1',
    httpVersion: 1,
    headers: { 'content-type': 'application/grpc-web+proto', 'x-grpc-web': '1' },
    body: emptyEnvelope,
    ending: 'grpc-status: 0',
  },
] as const;

/** Calls in flight. */
const concurrency = 64;

/**
 * Compares GetAccount, the cheapest authenticated call, with connect-node responding with the same
 * message from memory. The load generator is a separate process.
 */
export async function measureRpc(rounds: number, calls: number): Promise<RpcResult[]> {
  const service = await startService();
  const account = await createGleanerClient(service).call(getAccount, {});
  const bare = await startBenchProgram<BareRpcPorts>(
    'bare-rpc.ts',
    toJsonString(getAccount.output, account),
  );
  const load = await startBenchProgram('rpc-load.ts');
  const results: RpcResult[] = [];
  try {
    for (const { protocol, headers, ...request } of protocols) {
      const port = bare.firstMessage[request.httpVersion === 1 ? 'http1' : 'http2'];
      const measure = (url: string, pid: number) => () =>
        measureCalls(load, pid, {
          ...request,
          url,
          path: `/${AccountService.typeName}/${getAccount.name}`,
          headers: { ...headers, authorization: `Bearer ${service.apiKey}` },
          calls,
          concurrency,
        });
      const [ours, theirs] = await interleave(rounds, [
        measure(service.rpcUrl, service.pid),
        measure(`http://127.0.0.1:${port}`, bare.pid),
      ]);
      results.push({ protocol, gleanerUs: median(ours!), bareUs: median(theirs!) });
    }
  } finally {
    await load.stop();
    await bare.stop();
    await service.stop();
  }
  return results;
}

/** Returns the CPU time of a server per call, in microseconds. */
async function measureCalls(program: BenchProgram, pid: number, load: RpcLoad): Promise<number> {
  const before = processorMs(pid);
  await program.ask(load);
  return ((processorMs(pid) - before) / load.calls) * 1000;
}
