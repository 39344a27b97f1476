import type { DescField, DescMessage, DescMethod, DescService } from '@bufbuild/protobuf';
import type { PathForms, ServedEndpoint } from '../endpoint.ts';
import type { ExampleOf } from './examples.ts';
import type { Schema } from './schemas.ts';

/** Texts of an API for its OpenAPI document. */
export interface ApiInfo {
  title: string;
  version: string;
  description: string;
  contact?: Schema;
  license?: { name: string; identifier: string };
  /** Returns the base address of the service. */
  publicUrl: () => string;
  /** Doc comments of the contract by full name. */
  comments: Readonly<Record<string, string>>;
  /** Headers that sessions set on every response, by name, as OpenAPI describes headers. */
  callerHeaders?: Readonly<Record<string, Schema>>;
  /** Returns notes on an operation, which follow its description. */
  notesOf?: (endpoint: ServedEndpoint) => string[];
  /** Returns the `operationId` of an operation. Default: the method's name in camel case. */
  operationIdOf?: (endpoint: ServedEndpoint) => string;
  /** Returns the short title of a method. Default: the first sentence of its comment. */
  titleOf?: (method: DescMethod) => string;
  /** Returns the tag of a service. Default: its name. */
  tagOf?: (service: DescService) => string;
  /** Returns the name of a type's schema. Default: its name without the package. */
  schemaNameOf?: (message: DescMessage) => string;
  /** Returns the example of a field; by default, examples follow from types and rules. */
  exampleOf?: ExampleOf;
  /** Returns the `x-codeSamples` of an operation. Default: none. */
  codeSamplesOf?: (endpoint: ServedEndpoint) => Schema[];
  /** Tag of the extra paths. */
  extraTag?: { name: string; description: string };
}

/** Options of openApiDocument(). */
export interface DocumentOptions extends ApiInfo {
  endpoints: readonly ServedEndpoint[];
  pathForms: PathForms;
  /** Index of the path form that the document describes. */
  form: number;
  extraPaths: readonly { path: string; operation?: Schema }[];
  /** Returns true if responses of an endpoint have a `Location`. */
  isLocated: (endpoint: ServedEndpoint) => boolean;
  /** Returns true if a field differs between responses while nothing changes. */
  isVolatile: (field: DescField) => boolean;
}
