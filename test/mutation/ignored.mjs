/**
 * Mutants that Stryker skips because no caller can observe them: the text and fields of log lines,
 * and the wording of errors. Error codes and the fields that an error names are mutated. Flushing a
 * file or folder to disk is observable only after a power failure.
 */

const logMethods = new Set(['trace', 'debug', 'info', 'warn', 'error']);

/**
 * Returns the call that a statement consists of, or the node itself. Stryker removes such
 * statements as a whole.
 */
const callOf = ({ node }) => (node.type === 'ExpressionStatement' ? node.expression : node);

/**
 * Returns true for `log.info(…)`, `context.log.warn(…)`, and `log[level](…)`, and for an `if` that
 * contains nothing else.
 */
function isLogCall(path) {
  const node = callOf(path);
  if (node.type === 'IfStatement')
    return node.alternate === null && isLogCall({ node: node.consequent });
  if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return false;
  const { object, property, computed } = node.callee;
  const name = object.type === 'MemberExpression' ? object.property.name : object.name;
  return name === 'log' && (computed || logMethods.has(property.name));
}

/**
 * Returns true for the message of `new Fault(code, message)` and `new Error(message)`, and for
 * details that contain only a cause.
 */
function isErrorText({ node, parent, listKey, key }) {
  if (parent.type !== 'NewExpression' || listKey !== 'arguments') return false;
  if (node.type === 'ObjectExpression')
    return node.properties.every((property) => property.key?.name === 'cause');
  if (node.type !== 'StringLiteral' && node.type !== 'TemplateLiteral') return false;
  return (
    (parent.callee.name === 'Fault' && key === 1) || (parent.callee.name === 'Error' && key === 0)
  );
}

/** Returns true for `syncFolder(…)` and the option `flush: true`. */
function isDurability(path) {
  const node = callOf(path);
  if (node.type === 'CallExpression') return node.callee.name === 'syncFolder';
  return node.type === 'ObjectProperty' && node.key.name === 'flush';
}

function shouldIgnore(path) {
  if (isLogCall(path)) return 'log lines are for people';
  if (isErrorText(path)) return 'error texts are for people';
  if (isDurability(path)) return 'only a power cut shows it';
  return undefined;
}

export const strykerPlugins = [{ kind: 'Ignore', name: 'texts', value: { shouldIgnore } }];
