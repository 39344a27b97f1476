// A protoc plugin that generates what descriptors lack at run time: comments.ts, the doc comments
// of the contract for the OpenAPI document, market-comments.ts, the comments that the console
// shows, and services.ts, the services with the option `gleaner.options.v1.market`.
import { nestedTypes } from '@bufbuild/protobuf/reflect';
import { createEcmaScriptPlugin, getComments, runNodeJs } from '@bufbuild/protoplugin';

/** Field number of the option, which is an unknown field of ServiceOptions here. */
const marketOption = 50102;

function commentsOf(file) {
  return [...nestedTypes(file)]
    .filter(({ kind }) => kind !== 'extension')
    .flatMap((type) => [
      [type.typeName, type],
      ...(type.fields ?? type.values ?? type.methods).map((part) => [
        `${type.typeName}.${part.name}`,
        part,
      ]),
    ])
    .map(([name, element]) => [name, textOf(getComments(element).leading ?? '')])
    .filter(([, text]) => text !== '');
}

/** Returns a comment with one line per paragraph. */
function textOf(comment) {
  return comment
    .replace(/^ /gm, '')
    .replace(/([^\n])\n(?=[^\n])/g, '$1 ')
    .trim();
}

function generateTs(schema) {
  // buf calls the plugin once per input. The other inputs are published definitions.
  const files = schema.files.filter(({ proto }) => proto.package.startsWith('gleaner.'));
  if (files.length === 0) return;
  generateComments(schema, files);
  generateServices(schema.generateFile('services.ts'), files);
}

function generateComments(schema, files) {
  const markets = new Set(marketServices(files));
  const entries = files.flatMap(commentsOf).toSorted();
  const isMarkets = ([name]) =>
    [...markets].some(({ typeName }) => name.startsWith(`${typeName}.`));
  const json = (shown) => JSON.stringify(Object.fromEntries(shown), undefined, 2);
  const type = 'Readonly<Record<string, string>>';
  const ofMarkets = schema.generateFile('market-comments.ts');
  ofMarkets.print('/** Doc comments of the methods of the marketplaces by full name. */');
  ofMarkets.print(`export const marketComments: ${type} = ${json(entries.filter(isMarkets))};`);
  const all = schema.generateFile('comments.ts');
  all.print("import { marketComments } from './market-comments.ts';");
  all.print();
  all.print('/** Doc comments of the contract by full name. */');
  const others = json(entries.filter((entry) => !isMarkets(entry))).replace(
    /\n\}$/,
    ',\n  ...marketComments,\n}',
  );
  all.print(`export const comments: ${type} = ${others};`);
}

/** Returns the services of the marketplaces, by the name of their file. */
const marketServices = (files) =>
  files
    .flatMap(({ services }) => services)
    .filter(({ proto }) => proto.options?.$unknown?.some(({ no }) => no === marketOption))
    .toSorted((one, other) => (one.typeName < other.typeName ? -1 : 1));

function generateServices(target, files) {
  const names = marketServices(files).flatMap((service, index) => [
    index === 0 ? '' : ', ',
    target.importSchema(service),
  ]);
  const type = target.import('DescService', '@bufbuild/protobuf', true);
  target.print('export { ', ...names, ' };');
  target.print();
  target.print('/** Services of the marketplaces, by the name of their file. */');
  target.print('export const marketServices: readonly ', type, '[] = [', ...names, '];');
}

runNodeJs(createEcmaScriptPlugin({ name: 'protoc-gen-contract', version: 'v1', generateTs }));
