import { type DescMethod, getOption } from '@bufbuild/protobuf';
import { createSchemaNames } from '../../../gateway/openapi/names.ts';
import { createSchemaGenerator, type Schema } from '../../../gateway/openapi/schemas.ts';
import { comments } from '../../../gen/comments.ts';
import { JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import {
  Access,
  access as accessOption,
  job as jobOption,
  market as marketOption,
  Scope,
  Step,
  scope as scopeOption,
} from '../../../gen/gleaner/options/v1/options_pb.ts';
import { endpointOf } from '../../contract/endpoint.ts';
import { services } from '../../contract/services.ts';
import { submitOptionFields, takesSubmitOptions } from '../../contract/submit-options.ts';
import { canWait } from '../../contract/wait.ts';

const submitAdvice = [
  'Creates a job that is charged per unit; failed units are refunded.',
  'With validate_only=true, it only returns the quote.',
  'Wait for the job with get_job.',
  'Repeat a call whose result you did not get with the same idempotency_key.',
].join(' ');
const waitAdvice = 'With wait_seconds, waits for the end of the job.';

const recordsAdvice = [
  'Each record has its title, price, stock, rating, and address in item.',
  'Its record can be large: column selects fields of it, which list_fields names,',
  'and column ["unit_key"] leaves them out.',
].join(' ');

/**
 * Parts of a method's comment that apply only to REST: endpoint numbers, and sentences about
 * headers, paths, and status codes.
 */
const foreign = / \(endpoint \d+\)| [^.]*(?:`Idempotency-Key`|without \/v1|Returns 502)[^.]*\./g;

/**
 * Returns the description of a method's tool, for a model that sees only the tools, not the API.
 */
function describeTool(method: DescMethod): string {
  const about = comments[`${method.parent.typeName}.${method.name}`] ?? method.name;
  const parts: string[] = [];
  // Such as "Jobs on Tokopedia."
  if (isSubmit(method)) parts.push(comments[method.parent.typeName] ?? '');
  parts.push(about);
  if (takesSubmitOptions(method)) parts.push(submitAdvice);
  if (canWait(method)) parts.push(waitAdvice);
  if (method === JobService.method.listRecords) parts.push(recordsAdvice);
  return parts.map((part) => part.replace(foreign, '')).join(' ');
}

/** A tool that calls a method of the contract. */
export interface MethodTool {
  name: string;
  description: string;
  inputSchema: Schema & { type: 'object' };
  method: DescMethod;
  isReadOnly: boolean;
  /** True if it ends, removes, or replaces something. */
  isDestructive: boolean;
  /**
   * True if it can cause charges that the maximum cost of the call does not limit, such as the runs
   * of a schedule.
   */
  spendsLater: boolean;
}

/** Arguments of tools that are not fields of the request. */
export const extraArguments = {
  wait: 'wait_seconds',
  idempotencyKey: 'idempotency_key',
} as const;

/** Maximum of `wait_seconds`: clients give up on a tool after a minute. */
export const maxWaitSeconds = 50;

/** Names of methods that end, remove, or replace something. */
const destructive = /^(?:Cancel|Delete|Release|Update)/;

/**
 * Returns the tools of the contract: submits of every kind, and the calls to the caller's jobs and
 * account.
 */
export function methodTools(): MethodTool[] {
  const methods = services.flatMap((service) => service.methods).filter(isTool);
  return methods.map((method) => ({
    name: toolName(method),
    description: describeTool(method),
    inputSchema: inputSchemaOf(method),
    method,
    isReadOnly: !changes(method),
    isDestructive: changes(method) && destructive.test(method.name),
    spendsLater: changes(method) && !isSubmit(method) && method.parent !== JobService,
  }));
}

/**
 * Returns the schema of a method's arguments: its request, the options of a submit, and those of
 * the tool.
 */
function inputSchemaOf(method: DescMethod): MethodTool['inputSchema'] {
  // A book per tool: messages of different marketplaces have the same names.
  const book = createSchemaGenerator((name) => comments[name], createSchemaNames([]));
  const options = takesSubmitOptions(method) ? submitOptionFields : [];
  const schema = book.requestObject([...method.input.fields, ...options]);
  return withDefinitions(addArguments(method, schema), book.components());
}

/** Scopes of methods that are tools. Keys, webhooks, and deletions need a key with every scope. */
const toolScopes: ReadonlySet<Scope> = new Set([Scope.ANY, Scope.READ, Scope.SUBMIT]);

const changes = (method: DescMethod) => getOption(method, scopeOption) === Scope.SUBMIT;
const isSubmit = (method: DescMethod) => getOption(method, jobOption).step === Step.SUBMIT;

/**
 * Returns true if a method is a tool: users may call it, it has a REST path, and it does not
 * concern keys, webhooks, or files.
 */
function isTool(method: DescMethod): boolean {
  const scope = getOption(method, scopeOption);
  const { step } = getOption(method, jobOption);
  if (getOption(method.parent, accessOption) !== Access.USER) return false;
  if (method.methodKind !== 'unary' || endpointOf(method) === undefined) return false;
  if (!toolScopes.has(scope)) return false;
  return step === Step.UNSPECIFIED || step === Step.SUBMIT;
}

/** Returns the name of a method's tool: `get_job`, and for submits `submit_mktb_pdp_bulk`. */
function toolName(method: DescMethod): string {
  const { kind, step } = getOption(method, jobOption);
  if (step === Step.SUBMIT) return `submit_${getOption(method.parent, marketOption)}_${kind}`;
  return method.name.replace(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
}

function addArguments(method: DescMethod, schema: Schema): Schema {
  const properties = { ...(schema.properties as Record<string, Schema>) };
  if (takesSubmitOptions(method))
    properties[extraArguments.idempotencyKey] = {
      type: 'string',
      maxLength: 255,
      description:
        'A new value for each job; the same value and arguments return the first response again.',
    };
  if (canWait(method))
    properties[extraArguments.wait] = {
      type: 'integer',
      minimum: 0,
      maximum: maxWaitSeconds,
      description: 'Seconds to wait for the end of the job; call again while it has not ended.',
    };
  return { ...schema, properties };
}

/** Returns a schema with the referenced ones as `$defs`, since a tool has no other document. */
function withDefinitions(
  schema: Schema,
  components: Record<string, Schema>,
): MethodTool['inputSchema'] {
  const definitions: Record<string, Schema> = {};
  /** Returns the reference to a definition, which it adds. */
  const define = (name: string): string => {
    if (!Object.hasOwn(definitions, name)) {
      // Registered before it has members, since a schema may contain itself.
      definitions[name] = {};
      definitions[name] = move(components[name]) as Schema;
    }
    return `#/$defs/${name}`;
  };
  const move = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(move);
    if (typeof value !== 'object' || value === null) return value;
    const moved: Schema = {};
    for (const [key, member] of Object.entries(value)) {
      const [, name] = key === '$ref' ? (componentReference.exec(String(member)) ?? []) : [];
      moved[key] = name === undefined ? move(member) : define(name);
    }
    return moved;
  };
  const result = { ...(move(schema) as Schema), type: 'object' as const };
  if (Object.keys(definitions).length === 0) return result;
  return { ...result, $defs: definitions };
}

const componentReference = /^#\/components\/schemas\/(.+)$/;
