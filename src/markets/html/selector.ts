import { _compileUnsafe } from 'css-select';
import { type AttributeSelector, isTraversal, parse, type Selector, SelectorType } from 'css-what';
import nthCheck from 'nth-check';
import { type Document, type Element, isElement } from './html-tree.ts';
import type { PageWork } from './page-work.ts';

/** Matcher of a CSS selector. */
export interface Matcher {
  /** Number of steps between combinators, of all alternatives. */
  readonly steps: number;
  /**
   * Calls `found` with the descendants of `within` that match, in document order, until it returns
   * true. Leaves out a match inside another match. Visits each element at most once and counts the
   * work.
   */
  walk(within: Element | Document, work: PageWork, found: (element: Element) => boolean): void;
}

/** Place of an element among the elements of its parent, from 0. */
interface Position {
  index: number;
  count: number;
  /** Place among the elements with its tag. */
  typeIndex: number;
  typeCount: number;
}

/** Condition of one element, whatever its ancestors and siblings match. */
type Test = (element: Element, position: Position, work: PageWork) => boolean;

/**
 * Part of a selector between two combinators. A selector with the steps a, b and c matches an
 * element that fulfils c and is related, as the combinators say, to one that "a b" matches.
 */
interface Step {
  test: Test;
  /** How the element is related to one that the steps before match. */
  relation: Relation;
  /** Bit of the steps before. 0 for the first step. */
  before: number;
  /** Bit of the steps up to this one. 0 for the last step. */
  own: number;
}

type Relation = 'any' | 'descendant' | 'child' | 'sibling' | 'adjacent';

/** Bits of the steps that elements related to the visited one match. */
type Matched = Record<Exclude<Relation, 'any'>, number>;

/** Bits of an integer. */
const maxBits = 31;

/** Bit of the element in which a search starts: `:scope`. */
const scopeBit = 1;

/** Selector that is parsed, but cannot be matched in one visit of each element. */
class UnsupportedError extends Error {}

/** Tests of the position of an element among its siblings. */
const positionTests: Readonly<Record<string, (position: Position) => boolean>> = {
  'first-child': ({ index }) => index === 0,
  'last-child': ({ index, count }) => index === count - 1,
  'only-child': ({ count }) => count === 1,
  'first-of-type': ({ typeIndex }) => typeIndex === 0,
  'last-of-type': ({ typeIndex, typeCount }) => typeIndex === typeCount - 1,
  'only-of-type': ({ typeCount }) => typeCount === 1,
};

/** Places that the formulas of `:nth-child(2n + 1)` and its like count, from 0. */
const places: Readonly<Record<string, (position: Position) => number>> = {
  'nth-child': ({ index }) => index,
  'nth-last-child': ({ index, count }) => count - 1 - index,
  'nth-of-type': ({ typeIndex }) => typeIndex,
  'nth-last-of-type': ({ typeIndex, typeCount }) => typeCount - 1 - typeIndex,
};

/** Pseudo-classes of one element that css-select tests without a look at others. */
const ownPseudoClasses: ReadonlySet<string> = new Set(['empty', 'root']);

const relations: Readonly<Partial<Record<SelectorType, Relation>>> = {
  [SelectorType.Descendant]: 'descendant',
  [SelectorType.Child]: 'child',
  [SelectorType.Sibling]: 'sibling',
  [SelectorType.Adjacent]: 'adjacent',
};

/** Returns the test that css-select makes of one condition. */
function basicTest(condition: Selector): Test {
  const test = _compileUnsafe<unknown, Element>([[condition]]);
  return (element) => test(element);
}

function attributeTest(condition: AttributeSelector): Test {
  const { name, namespace } = condition;
  if (namespace !== null) throw new UnsupportedError('a namespace is not supported');
  const test = basicTest(condition);
  return (element, position, work) => {
    const value = element.attribs[name];
    if (value !== undefined) work.addSearch(value.length);
    return test(element, position, work);
  };
}

/** Returns the test of a pseudo-class without alternatives: `:first-child` or `:nth-child(2)`. */
function pseudoClassTest(condition: Selector, name: string, formula: unknown): Test {
  const testPosition = positionTests[name];
  if (testPosition) return (_element, position) => testPosition(position);
  const placeOf = places[name];
  if (placeOf) {
    const isCounted = nthCheck(String(formula));
    return (_element, position) => isCounted(placeOf(position));
  }
  if (!ownPseudoClasses.has(name)) throw new UnsupportedError(`:${name} is not supported`);
  return basicTest(condition);
}

/** Returns the test of `:is()` and `:not()`: true if one of the alternatives is fulfilled. */
function alternativesTest(name: string, data: unknown): Test {
  if (!Array.isArray(data))
    throw new UnsupportedError(`:${name} without a selector is not supported`);
  const alternatives = (data as Selector[][]).map((conditions) => {
    if (conditions.some(isTraversal))
      throw new UnsupportedError(`:${name} with a combinator is not supported`);
    return compoundTest(conditions);
  });
  return (element, position, work) => alternatives.some((test) => test(element, position, work));
}

function conditionTest(condition: Selector): Test {
  switch (condition.type) {
    case SelectorType.Universal:
      return () => true;
    case SelectorType.Tag:
      if (condition.namespace !== null) throw new UnsupportedError('a namespace is not supported');
      return basicTest(condition);
    case SelectorType.Attribute:
      return attributeTest(condition);
    case SelectorType.Pseudo:
      break;
    default:
      throw new UnsupportedError(`a ${condition.type} is not supported`);
  }
  const { name, data } = condition;
  if (name === 'is' || name === 'where' || name === 'matches') return alternativesTest(name, data);
  if (name !== 'not') return pseudoClassTest(condition, name, data);
  const isExcluded = alternativesTest(name, data);
  return (element, position, work) => !isExcluded(element, position, work);
}

/** Returns the test of several conditions of one element: `a.price[href]`. */
function compoundTest(conditions: readonly Selector[]): Test {
  const tests = conditions.map(conditionTest);
  const [only] = tests;
  if (tests.length === 1) return only!;
  return (element, position, work) => tests.every((test) => test(element, position, work));
}

const isScope = (condition: Selector | undefined) =>
  condition?.type === SelectorType.Pseudo && condition.name === 'scope';

/** Assigns bits to the steps of the alternatives of a selector. */
class StepCompiler {
  readonly steps: Step[] = [];
  private bits = 1;

  /** Adds the steps of one alternative: `.list > li a`. */
  add(selector: readonly Selector[]): void {
    let rest = isScope(selector[0]) ? selector.slice(1) : selector;
    let before = rest === selector && !isTraversal(rest[0]!) ? 0 : scopeBit;
    let relation: Relation = 'any';
    if (before === scopeBit) {
      relation = this.relationOf(rest[0]);
      if (relation !== 'child' && relation !== 'descendant')
        throw new UnsupportedError('a sibling of the searched element is not supported');
      rest = rest.slice(1);
    }
    for (;;) {
      const end = rest.findIndex(isTraversal);
      const isLast = end < 0;
      const test = compoundTest(isLast ? rest : rest.slice(0, end));
      const own = isLast ? 0 : this.nextBit();
      this.steps.push({ test, relation, before, own });
      if (isLast) return;
      relation = this.relationOf(rest[end]);
      before = own;
      rest = rest.slice(end + 1);
    }
  }

  private nextBit(): number {
    if (this.bits === maxBits)
      throw new UnsupportedError(`more than ${maxBits - 1} combinators are not supported`);
    const bit = 2 ** this.bits;
    this.bits += 1;
    return bit | 0;
  }

  private relationOf(combinator: Selector | undefined): Relation {
    const relation = combinator && relations[combinator.type];
    if (relation) return relation;
    throw new UnsupportedError(
      combinator ? `a ${combinator.type} is not supported` : ':scope alone is not supported',
    );
  }
}

const usesPositions = (selector: readonly Selector[]): boolean =>
  selector.some((condition) => {
    if (condition.type !== SelectorType.Pseudo) return false;
    if (condition.name in positionTests || condition.name in places) return true;
    return Array.isArray(condition.data) && condition.data.some(usesPositions);
  });

/** Steps that count for the position of an element among its siblings. */
const stepsPerPosition = 8;

const noPosition: Position = {
  index: 0,
  count: 0,
  typeIndex: 0,
  typeCount: 0,
};

/** Returns the positions of the elements among siblings, in their order. */
function positionsOf(elements: readonly Element[]): Position[] {
  const typeCounts = new Map<string, number>();
  const positions = elements.map(({ name }, index) => {
    const typeIndex = typeCounts.get(name) ?? 0;
    typeCounts.set(name, typeIndex + 1);
    return {
      index,
      count: elements.length,
      typeIndex,
      typeCount: 0,
    };
  });
  for (const position of positions)
    position.typeCount = typeCounts.get(elements[position.index]!.name)!;
  return positions;
}

/**
 * Result of the steps for one element: the bits of the steps that match, and whether a last step
 * does.
 */
interface StepMatch {
  bits: number;
  isMatch: boolean;
}

/**
 * Walk over a tree from the top. Each element has the bits of the steps that match it; those of its
 * ancestors and earlier siblings decide which steps are possible. The work is the number of
 * elements times the number of steps, whatever the combinators.
 */
class Walk {
  private readonly steps: readonly Step[];
  private readonly hasPositions: boolean;
  private readonly work: PageWork;
  private readonly found: (element: Element) => boolean;
  private readonly result: StepMatch = { bits: 0, isMatch: false };

  constructor(program: Program, work: PageWork, found: (element: Element) => boolean) {
    this.steps = program.steps;
    this.hasPositions = program.hasPositions;
    this.work = work;
    this.found = found;
  }

  /** Visits the children of an element. Returns true if the walk is to end. */
  visit(children: Document['children'], ancestors: number, parent: number): boolean {
    this.work.add(children.length);
    const positions = this.hasPositions ? this.positionsOf(children.filter(isElement)) : null;
    const matched: Matched = {
      descendant: ancestors,
      child: parent,
      sibling: 0,
      adjacent: 0,
    };
    let index = 0;
    for (const element of children) {
      if (!isElement(element)) continue;
      const { bits, isMatch } = this.match(element, positions?.[index] ?? noPosition, matched);
      if (isMatch) {
        if (this.found(element)) return true;
      } else if (this.visit(element.children, ancestors | bits, bits)) return true;
      matched.sibling |= bits;
      matched.adjacent = bits;
      index += 1;
    }
    return false;
  }

  private positionsOf(elements: readonly Element[]): Position[] {
    this.work.add(stepsPerPosition * elements.length);
    return positionsOf(elements);
  }

  private match(element: Element, position: Position, matched: Matched): StepMatch {
    const { result, steps, work } = this;
    result.bits = 0;
    result.isMatch = false;
    work.add(steps.length);
    for (const { test, relation, before, own } of steps) {
      const isPossible = relation === 'any' || (matched[relation] & before) !== 0;
      if (!isPossible || !test(element, position, work)) continue;
      result.bits |= own;
      if (own === 0) result.isMatch = true;
    }
    return result;
  }
}

interface Program {
  steps: readonly Step[];
  hasPositions: boolean;
}

/**
 * Compiles a CSS selector. Supports tags, classes, ids, attributes, lists, the four combinators,
 * positions among siblings, `:empty`, `:root`, and `:is()` and `:not()` without combinators. Throws
 * an Error for others: matching `:has()` or `:contains()` takes more than one visit of each
 * element.
 */
export function compileSelector(selector: string): Matcher {
  const alternatives = parse(selector);
  const compiler = new StepCompiler();
  for (const alternative of alternatives) compiler.add(alternative);
  const program = { steps: compiler.steps, hasPositions: alternatives.some(usesPositions) };
  return {
    steps: program.steps.length,
    walk: (within, work, found) => {
      new Walk(program, work, found).visit(within.children, scopeBit, scopeBit);
    },
  };
}

/** Returns why a text is not a selector that compileSelector() supports, or null if it is one. */
export function selectorProblem(selector: string): string | null {
  try {
    compileSelector(selector);
    return null;
  } catch (error) {
    return error instanceof UnsupportedError ? error.message : 'not a CSS selector';
  }
}
