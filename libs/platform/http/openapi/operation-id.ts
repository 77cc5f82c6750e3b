/** The metadata key of `@ApiOperation`. The package exports no name for it. */
const API_OPERATION = 'swagger/apiOperation';

/**
 * Handlers with such a name get the noun of their controller: `create` of TasksController is
 * `createTask`.
 */
const VERBS = [
  'accept',
  'add',
  'answer',
  'approve',
  'archive',
  'ask',
  'assign',
  'cancel',
  'change',
  'claim',
  'close',
  'comment',
  'complete',
  'continue',
  'create',
  'decline',
  'deregister',
  'end',
  'explain',
  'fail',
  'follow',
  'get',
  'issue',
  'list',
  'merge',
  'pause',
  'plan',
  'reallocate',
  'refresh',
  'register',
  'release',
  'remove',
  'rename',
  'renew',
  'replace',
  'replay',
  'report',
  'request',
  'reset',
  'resume',
  'retry',
  'revoke',
  'rotate',
  'run',
  'save',
  'send',
  'set',
  'sign',
  'start',
  'submit',
  'terminate',
  'update',
] as const;

/** The form of every operation id: a verb of the list and its object. */
export const OPERATION_ID = new RegExp(`^(${VERBS.join('|')})[A-Z][A-Za-z]*$`);

/** Suffixes that distinguish controllers of the same noun. */
const PARTS = /(Queries|Creation|Update|Commands|Reports)?Controller$/;

/**
 * The id of an operation without one in its `@ApiOperation`, from the names of controller and
 * handler. A handler whose name is no verb keeps it.
 */
export function operationId(controller: string, handler: string): string {
  const noun = singular(controller.replace(PARTS, ''));
  if (handler === 'list') return `list${plural(noun)}`;
  return (VERBS as readonly string[]).includes(handler) ? `${handler}${noun}` : handler;
}

/** The id of a controller's method in the document. */
export function operationOf(controller: { name: string }, handler: { name: string }): string {
  const stated = Reflect.getMetadata(API_OPERATION, handler) as
    | { operationId?: string }
    | undefined;
  return stated?.operationId ?? operationId(controller.name, handler.name);
}

function singular(noun: string): string {
  return noun.replace(/ies$/, 'y').replace(/s$/, '');
}

function plural(noun: string): string {
  return `${noun.replace(/(?<![aeou])y$/, 'ie')}s`;
}
