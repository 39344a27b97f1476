import type { PathSegment, Template } from './parse.ts';

/** Tree of path templates with one value per HTTP method. */
export interface Trie<Value> {
  /** Adds a template. Throws an Error for a duplicate method and path. */
  insert(method: string, template: Template, value: Value): void;
  /**
   * Returns the value of a path, given as its segments; literals take precedence over wildcards.
   * The method `*` stands for any.
   */
  find(segments: readonly string[], method: string): Value | undefined;
  /** Returns the methods with a value on the path, or none for an unknown path. */
  methods(segments: readonly string[]): string[];
}

interface Node<Value> {
  literals: Map<string, Node<Value>>;
  one: Node<Value> | undefined;
  /** Values of templates that end here, by verb and method. */
  leaf: Leaf<Value>;
  /** Values of templates that end in `**` below this node. */
  rest: Leaf<Value>;
}

type Leaf<Value> = Map<string, Map<string, Value>>;

/**
 * Visits each template that matches a path, best match first; a result other than undefined ends
 * the walk.
 */
type Visit<Value> = (methods: Map<string, Value>) => Value | undefined;

const newNode = <Value>(): Node<Value> => ({
  literals: new Map(),
  one: undefined,
  leaf: new Map(),
  rest: new Map(),
});

/** Creates an empty tree. */
export function createTrie<Value>(): Trie<Value> {
  const root = newNode<Value>();
  let verbs = false;

  const search = (segments: readonly string[], visit: Visit<Value>): Value | undefined => {
    const last = segments.at(-1) ?? '';
    const colon = verbs ? last.lastIndexOf(':') : -1;
    if (colon > 0) {
      const found = walk(
        root,
        [...segments.slice(0, -1), last.slice(0, colon)],
        0,
        last.slice(colon + 1),
        visit,
      );
      if (found !== undefined) return found;
    }
    return walk(root, segments, 0, '', visit);
  };

  return {
    insert(method, template, value) {
      const methods = entry(
        leafOf(root, template.segments),
        template.verb,
        () => new Map<string, Value>(),
      );
      if (methods.has(method))
        throw new Error(`${method} ${formatTemplate(template)} is declared twice`);
      methods.set(method, value);
      verbs ||= template.verb !== '';
    },
    find: (segments, method) =>
      search(segments, (methods) => methods.get(method) ?? methods.get('*')),
    methods: (segments) => {
      const names = new Set<string>();
      search(segments, (methods) => {
        for (const name of methods.keys()) names.add(name);
        return undefined;
      });
      return [...names];
    },
  };
}

function leafOf<Value>(root: Node<Value>, segments: readonly PathSegment[]): Leaf<Value> {
  let node = root;
  for (const segment of segments) {
    if (segment.kind === '**') return node.rest;
    if (segment.kind === 'literal') node = entry(node.literals, segment.text, newNode<Value>);
    else {
      node.one ??= newNode();
      node = node.one;
    }
  }
  return node.leaf;
}

function walk<Value>(
  node: Node<Value>,
  segments: readonly string[],
  at: number,
  verb: string,
  visit: Visit<Value>,
): Value | undefined {
  let found: Value | undefined;
  if (at === segments.length) found = visitLeaf(node.leaf, verb, visit);
  else {
    const literal = node.literals.get(segments[at]!);
    if (literal !== undefined) found = walk(literal, segments, at + 1, verb, visit);
    // An empty segment (`//`, a trailing slash) matches no variable.
    if (found === undefined && node.one !== undefined && segments[at] !== '') {
      found = walk(node.one, segments, at + 1, verb, visit);
    }
  }
  return found ?? visitLeaf(node.rest, verb, visit);
}

function visitLeaf<Value>(leaf: Leaf<Value>, verb: string, visit: Visit<Value>): Value | undefined {
  const methods = leaf.get(verb);
  return methods === undefined ? undefined : visit(methods);
}

function entry<Value>(map: Map<string, Value>, key: string, create: () => Value): Value {
  const existing = map.get(key);
  if (existing !== undefined) return existing;
  const created = create();
  map.set(key, created);
  return created;
}

function formatTemplate(template: Template): string {
  const path = template.segments.map((segment) =>
    segment.kind === 'literal' ? segment.text : segment.kind,
  );
  return `/${path.join('/')}${template.verb === '' ? '' : `:${template.verb}`}`;
}
