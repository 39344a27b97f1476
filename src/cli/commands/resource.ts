import {
  type DescMessage,
  type DescMethod,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  type Message,
  type MessageInitShape,
  type MessageShape,
  ScalarType,
} from '@bufbuild/protobuf';
import type { Command } from 'commander';
import type { HttpBodySchema } from '../../../gen/google/api/httpbody_pb.ts';
import { keyScopes, refusalOf } from '../../contract/permission.ts';
import { addCommand, integer, limitOption, type OptionList, outputOption } from './command.ts';
import { errorLines, exitCodeOf, UsageError } from './exit.ts';
import { marketPath, regionCode } from './market-names.ts';
import type { Display, PrintedColumn } from './print.ts';
import {
  type Access,
  type CommandSession,
  checkSchedule,
  checkUserId,
  findJobId,
  writeStream,
} from './session.ts';

// biome-ignore lint/suspicious/noExplicitAny: options depend on the declaration of the command.
export type Flags = Readonly<Record<string, any>>;

type Fields<Shape> = Exclude<keyof Shape, '$typeName' | '$unknown'>;

/**
 * What a command shows of a response: its only field if that is a message, otherwise the response.
 */
type Shown<Shape> = Shape[Fields<Shape>] extends Message | undefined
  ? NonNullable<Shape[Fields<Shape>]>
  : Shape;

/** Entry of a response with one list. */
type Entry<Shape> = {
  [name in Fields<Shape>]: Shape[name] extends readonly (infer Row extends Message)[] ? Row : never;
}[Fields<Shape>];

/**
 * Declaration of a command that calls a method. Arguments and options become the fields of the
 * request with their names; `<job>` may be any reference to a job. The method declares whose key
 * calls it.
 */
interface CallSpec<Method extends DescMethod = DescMethodUnary> {
  usage: string;
  about: string;
  options?: OptionList;
  method: Method;
  /** Method for operators, if it is another one. Its request may name a user. */
  operatorMethod?: DescMethodUnary;
  /** Returns the other fields of the request. */
  request?(
    flags: Flags,
    session: CommandSession,
    ...values: string[]
  ): MessageInitShape<Method['input']> | Promise<MessageInitShape<Method['input']>>;
}

/** A declaration whose method does not matter. */
type AnySpec = Omit<CallSpec, 'method' | 'request'> & {
  method: DescMethod;
  request?(flags: Flags, session: CommandSession, ...values: string[]): object;
};

type ListSpec<I extends DescMessage, O extends DescMessage> = CallSpec<DescMethodUnary<I, O>> & {
  columns: readonly PrintedColumn<Entry<MessageShape<O>>>[];
  /** Column that operators see in addition. */
  ownerColumn?: PrintedColumn<Entry<MessageShape<O>>>;
  /** Note if there are no entries. */
  none: string;
  /** Method that exports all matching entries. */
  exportMethod?: DescMethodServerStreaming<DescMessage, typeof HttpBodySchema>;
};

type ShowSpec<I extends DescMessage, O extends DescMessage> = CallSpec<DescMethodUnary<I, O>> & {
  words(displayed: Shown<MessageShape<O>>, display: Display, ...values: string[]): string;
  /** Returns the exit code. Default: 0. */
  code?(displayed: Shown<MessageShape<O>>): number;
  /** Whether the method accepts an idempotency key, which makes a repeated call have one effect. */
  acceptsKey?: boolean;
};

const keyOption = [
  '--idempotency-key <key>',
  'repeated calls with this key have one effect (default: a new key)',
] as const;

const keyOptions = ({ idempotencyKey = crypto.randomUUID() }: Flags) => ({ idempotencyKey });

const exportOption = ['--export <format>', 'export every matching entry: csv or jsonl'] as const;

/** Adds a command that lists the entries of a response, or of its pages. */
export function addList<I extends DescMessage, O extends DescMessage>(
  parent: Command,
  spec: ListSpec<I, O>,
): void {
  const { usage, about, method, exportMethod, columns, ownerColumn, none } = spec;
  const options = [...(spec.options ?? [])];
  if (isPaged(method)) options.push(limitOption);
  if (exportMethod !== undefined) options.push(exportOption, outputOption);
  addCommand<Flags>(parent, {
    usage,
    about,
    options,
    as: accessOf(spec),
    async run(session, flags, ...values: string[]) {
      if (exportMethod !== undefined && flags.export !== undefined)
        return exportEntries(session, spec, exportMethod, flags);
      const max = integer('--limit', flags.limit, 50);
      const calledMethod = methodOf(spec, session);
      const request = await requestOf(spec, session, flags, values);
      const field = calledMethod.output.fields.find(({ fieldKind }) => fieldKind === 'list')!;
      const rows = (page: MessageShape<DescMessage>) =>
        (page as never)[field.localName] as Message[];
      const entries = isPaged(calledMethod)
        ? await readPages(session, calledMethod, request, rows, max)
        : rows(await session.client.call(calledMethod, request));
      const displayed = ownerColumn && session.isOperator ? [...columns, ownerColumn] : columns;
      await session.list(field.message!, entries, displayed as never, none);
    },
  });
}

/**
 * Adds a command that calls a method, and shows the response. With `<id...>` it does so for each
 * id.
 */
export function addShow<I extends DescMessage, O extends DescMessage>(
  parent: Command,
  spec: ShowSpec<I, O>,
): void {
  const { usage, about, options = [], words, code, acceptsKey = false } = spec;
  addCommand<Flags>(parent, {
    usage,
    about,
    options: acceptsKey ? [...options, keyOption] : options,
    as: accessOf(spec),
    async run(session, flags, ...flagValues: (string | string[])[]) {
      const callOnce = async (...values: string[]) => {
        const calledMethod = methodOf(spec, session);
        const { output } = calledMethod;
        const request = await requestOf(spec, session, flags, values);
        const callOptions = acceptsKey ? keyOptions(flags) : {};
        const response = await session.client.call(calledMethod, request, callOptions);
        const [field, ...furtherFields] = output.fields;
        const isWrapped = field?.fieldKind === 'message' && furtherFields.length === 0;
        const displayed: Message = isWrapped ? (response as never)[field.localName] : response;
        if (output.fields.length > 0 || !session.isJson)
          await session.show(isWrapped ? field.message : output, displayed, (display) =>
            words(displayed as never, display, ...values),
          );
        return code?.(displayed as never);
      };
      const [ids] = flagValues;
      return Array.isArray(ids)
        ? forEach(session, ids, callOnce)
        : callOnce(...(flagValues as string[]));
    },
  });
}

/** Adds a command that writes the bytes of a response to standard output or a file. */
export function addStream<I extends DescMessage>(
  parent: Command,
  spec: CallSpec<DescMethodServerStreaming<I, typeof HttpBodySchema>>,
): void {
  const { usage, about, options = [], method } = spec;
  addCommand<Flags>(parent, {
    usage,
    about,
    options: [...options, outputOption],
    as: accessOf(spec),
    async run(session, flags, ...values: string[]) {
      const request = await requestOf(spec, session, flags, values);
      const stream = await session.client.stream(method, request as never);
      await writeStream(session, stream, flags.output);
    },
  });
}

/** Reads pages until they have `max` entries. `max` 0: all. */
export async function readPages<Row>(
  { client }: CommandSession,
  method: DescMethodUnary,
  request: Flags,
  rows: (page: never) => readonly Row[],
  max: number,
): Promise<Row[]> {
  const found: Row[] = [];
  const sized = { ...request, pageSize: max === 0 ? 1000 : Math.min(max, 1000) };
  for await (const page of client.pages(method as never, sized as never)) {
    found.push(...rows(page as never));
    if (max > 0 && found.length >= max) return found.slice(0, max);
  }
  return found;
}

/** Checks the format of an export. Throws a UsageError. */
export function exportFormat(
  option: string,
  { isJson }: CommandSession,
  format: string | undefined,
): string {
  if (format !== undefined && format !== 'csv' && format !== 'jsonl')
    throw new UsageError(`${option}: "${format}" is not csv or jsonl`);
  if (isJson && format === 'csv')
    throw new UsageError('--json cannot be combined with the format csv');
  return format ?? 'jsonl';
}

async function exportEntries(
  session: CommandSession,
  spec: AnySpec,
  method: DescMethodServerStreaming<DescMessage, typeof HttpBodySchema>,
  flags: Flags,
): Promise<void> {
  if (session.isOperator && !isAllowed(method, 'operator'))
    throw new UsageError(
      "--export writes your own entries. It needs a user's API key, and no --user.",
    );
  const request = await requestOf(spec, session, flags, []);
  const format = exportFormat('--export', session, flags.export);
  const stream = await session.client.stream(method, { ...request, format } as never);
  await writeStream(session, stream, flags.output);
}

/**
 * Calls a function for each id, one after another, also after errors. Returns the last exit code
 * that is not 0.
 */
async function forEach(
  session: CommandSession,
  ids: readonly string[],
  call: (id: string) => Promise<number | undefined>,
): Promise<number> {
  let code = 0;
  for (const id of ids) {
    try {
      code = (await call(id)) || code;
    } catch (error) {
      session.signal.throwIfAborted();
      if (ids.length === 1) throw error;
      for (const line of errorLines(session.explain(error))) session.note(`${line} (${id})`);
      code = exitCodeOf(error);
    }
  }
  return code;
}

const camelCase = (name: string) =>
  name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Creates the request of a command from its arguments and its own options. */
async function requestOf(
  spec: AnySpec,
  session: CommandSession,
  flags: Flags,
  values: readonly string[],
): Promise<Flags> {
  const { usage, options = [], request } = spec;
  const names = [...usage.matchAll(/[<[]([\w-]+)/g)].map(([, name]) => camelCase(name!));
  const declared = options.map(([text]) => camelCase(/--([\w-]+)/.exec(text)![1]!));
  const flagValues: Record<string, unknown> = {};
  for (const name of declared) flagValues[name] = flags[name];
  for (const [at, name] of names.entries()) flagValues[name] = values[at];
  const { userId, scheduleId, market, region, job } = flagValues;
  if (typeof userId === 'string') checkUserId(userId);
  if (typeof scheduleId === 'string') await checkSchedule(session, scheduleId);
  const { input } = methodOf(spec, session);
  const fields: Record<string, unknown> = {};
  for (const { localName, scalar } of input.fields) {
    const value = flagValues[localName];
    const isText = scalar === ScalarType.STRING && typeof value === 'string';
    const isFlag = scalar === ScalarType.BOOL && value === true;
    if (isText || isFlag) fields[localName] = value;
  }
  if (typeof market === 'string') fields.market = marketPath(market);
  if (typeof region === 'string') fields.region = regionCode(region);
  if (typeof job === 'string') fields.jobId = await findJobId(session, job);
  if (session.userId !== '' && input.field.userId) fields.userId = session.userId;
  return { ...fields, ...(await request?.(flags, session, ...values)) };
}

const isPaged = ({ input }: DescMethod) => input.field.pageToken !== undefined;

const methodOf = ({ method, operatorMethod }: AnySpec, { isOperator }: CommandSession) =>
  ((isOperator && operatorMethod) || method) as DescMethodUnary;

/** Returns whose keys can call the method of a command, as the contract declares. */
function accessOf({ method, operatorMethod }: AnySpec): Access {
  if (!isAllowed(method, 'user')) return 'operator';
  const forOperators = operatorMethod !== undefined || isAllowed(method, 'operator');
  return forOperators ? 'either' : 'user';
}

/** A caller of each role who may do all that the role may. */
const callers = {
  user: { role: 'user', scopes: keyScopes, operatorRole: null },
  operator: { role: 'operator', scopes: [], operatorRole: 'admin' },
} as const;

const isAllowed = (method: DescMethod, role: keyof typeof callers): boolean =>
  refusalOf(method, callers[role]) === null;
