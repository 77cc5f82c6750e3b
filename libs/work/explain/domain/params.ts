import { TASK_STATUSES } from '#lib/transitions/domain';

/** The kind of thing that a part of a message names. */
export const PARAM_KINDS = ['task', 'agent', 'budget', 'user', 'time', 'code'] as const;

/** A part of a message that a program can show in its own way: as a link, a name or a local time. */
export interface Param {
  kind: (typeof PARAM_KINDS)[number];
  /** The part of the message. A time has its preposition: "at", "until" or "by". */
  text: string;
  /** The words to show to people instead. The ISO form of a time. */
  name: string;
  /** The id of the thing. Null for times and codes. */
  id: string | null;
}

interface Explained {
  message: string;
  facts: object;
}

/** A preposition belongs to the time: "at 14:00" is "in 5 min" as well. */
const TIME = /(?:\b(?:at|until|by) )?(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/;

/**
 * The parts of a message that have an id, a code or a time, in the order of the message and without
 * overlaps. A program replaces each from the end of the one before it. Pure.
 */
export function paramsOf({ message, facts }: Explained): Param[] {
  const known = [...named(facts), ...statuses(facts)].filter(({ text }) => text !== '');
  const params: Param[] = [];
  let from = 0;
  for (;;) {
    const next = firstOf(message, from, known);
    if (next === undefined) return params;
    params.push(next.param);
    from = next.at + next.param.text.length;
  }
}

/** The first part of the message from here on. Of two at one place the longer one counts. */
function firstOf(message: string, from: number, known: readonly Param[]) {
  const found = known.map((param) => ({ param, at: message.indexOf(param.text, from) }));
  const time = TIME.exec(message.slice(from));
  if (time) {
    const param: Param = { kind: 'time', text: time[0], name: String(time[1]), id: null };
    found.push({ param, at: from + time.index });
  }
  return found
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at || b.param.text.length - a.param.text.length)[0];
}

function named(facts: object): Param[] {
  const fact = facts as Record<string, unknown>;
  const { taskId, title, agentId, agentName, budgetId, by, byName } = fact;
  const agents = [fact['agents'], fact['nearest']].flat() as ({
    id: string;
    name: string;
  } | null)[];
  return [
    ...(isText(taskId) && isText(title) ? [quoted('task', taskId, title)] : []),
    ...(isText(agentId) && isText(agentName) ? [quoted('agent', agentId, agentName)] : []),
    ...agents.flatMap((agent) => (agent ? [quoted('agent', agent.id, agent.name)] : [])),
    ...(isText(budgetId) ? budgetParams(budgetId) : []),
    ...(isText(by) && isText(byName) ? [authorOf(by, byName)] : []),
  ];
}

const isText = (value: unknown): value is string => typeof value === 'string';

function quoted(kind: 'task' | 'agent', id: string, name: string): Param {
  return { kind, text: `"${name}"`, name, id };
}

function budgetParams(id: string): Param[] {
  return ['The budget', 'a budget'].map((text) => ({ kind: 'budget', text, name: text, id }));
}

/** `by` is the kind and the id of the author, such as `user:` or `api_key:` and an id. */
function authorOf(by: string, name: string): Param {
  return { kind: 'user', text: `${name} (${by})`, name, id: by.slice(by.indexOf(':') + 1) };
}

function statuses(facts: object): Param[] {
  const { status } = facts as Record<string, unknown>;
  if (!TASK_STATUSES.some((known) => known === status)) return [];
  const text = String(status);
  return [{ kind: 'code', text, name: text.toLowerCase(), id: null }];
}
