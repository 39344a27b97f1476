import { type DescField, type DescMessage, getOption, isFieldSet, ScalarType } from '@bufbuild/protobuf';
import {
  Int32RulesSchema,
  Int64RulesSchema,
  field as rulesOption,
} from '../../../gen/buf/validate/validate_pb.ts';
import { comments } from '../../../gen/comments.ts';
import {
  default_json as defaultOption,
  rest_name as restNameOption,
} from '../../../gen/gleaner/options/v1/options_pb.ts';

/** One field of a request, as a form asks for it. Values are texts; flags are 'true' and 'false'. */
export interface FieldShape {
  /** Name in REST bodies: "shop_id". */
  name: string;
  /** What it is, as the contract says. */
  about: string;
  sort: 'text' | 'choice' | 'integer' | 'flag' | 'file';
  required: boolean;
  /** For choices: what there is. */
  choices: readonly string[];
  /** What texts must look like. */
  pattern: RegExp | null;
  /** Longest text, in characters. */
  maxLength: number | null;
  /** Least integer. */
  least: number | null;
  /** Greatest integer. */
  most: number | null;
  /** What holds without it, as text; '' for nothing. */
  fallback: string;
}

/** The list of a request: its units. */
export interface ListShape {
  /** Name in REST bodies: "items". */
  name: string;
  about: string;
  /** Most units of one request. */
  most: number;
  /** Fields of a unit; null where a unit is a text by itself. */
  fields: readonly FieldShape[] | null;
}

/** What a request is made of: fields of its own, and a list of units where it has one. */
export interface RequestShape {
  fields: readonly FieldShape[];
  list: ListShape | null;
}

/** Reads the shape of a request off its declaration. */
export function shapeOf(message: DescMessage): RequestShape {
  const lists = message.fields.filter(({ fieldKind }) => fieldKind === 'list');
  return {
    fields: message.fields.filter(({ fieldKind }) => fieldKind !== 'list').map(fieldOf),
    list: lists[0] ? listOf(lists[0]) : null,
  };
}

const aboutOf = (field: DescField) => comments[`${field.parent.typeName}.${field.name}`] ?? '';
const nameOf = (field: DescField) => getOption(field, restNameOption) || field.name;

function listOf(field: DescField): ListShape {
  const { type } = getOption(field, rulesOption);
  const most = type.case === 'repeated' ? Number(type.value.maxItems) : 0;
  return {
    name: nameOf(field),
    about: aboutOf(field),
    most: most || Number.POSITIVE_INFINITY,
    fields: field.message ? field.message.fields.map(fieldOf) : null,
  };
}

function fieldOf(field: DescField): FieldShape {
  const { required, type } = getOption(field, rulesOption);
  const text = type.case === 'string' ? type.value : null;
  const fallback = getOption(field, defaultOption);
  return {
    name: nameOf(field),
    about: aboutOf(field),
    sort: sortOf(field, text?.in.length ?? 0),
    required: required || field.scalar === ScalarType.BYTES,
    choices: text?.in ?? [],
    pattern: text?.pattern ? new RegExp(text.pattern) : null,
    maxLength: Number(text?.maxLen ?? 0) || null,
    least: limitOf(field, 'gte'),
    most: limitOf(field, 'lte'),
    fallback: fallback === '' ? '' : String(JSON.parse(fallback)),
  };
}

/** A bound of an integer that the declaration sets; null without one. */
function limitOf(field: DescField, bound: 'gte' | 'lte'): number | null {
  const { type } = getOption(field, rulesOption);
  if (type.case === 'int32')
    return isFieldSet(type.value, Int32RulesSchema.field[bound]) ? type.value[bound] : null;
  if (type.case === 'int64')
    return isFieldSet(type.value, Int64RulesSchema.field[bound]) ? Number(type.value[bound]) : null;
  return null;
}

function sortOf(field: DescField, choices: number): FieldShape['sort'] {
  if (choices > 0) return 'choice';
  switch (field.scalar) {
    case ScalarType.BOOL:
      return 'flag';
    case ScalarType.BYTES:
      return 'file';
    case ScalarType.INT32:
    case ScalarType.INT64:
      return 'integer';
    default:
      return 'text';
  }
}
