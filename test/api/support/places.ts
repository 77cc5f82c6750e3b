import { newId } from '#lib/kernel';
import { GATEWAY_BODY, gatewayHeaders, isGatewayRoute } from './gateway.js';
import type { CallerKind, Parameter, Route } from './openapi.js';
import { fillPath, type Wire, withQuery } from './requests.js';
import { sampleObject } from './samples.js';
import { isId, isShortId, type Schema } from './schemas.js';
import type { TenantCaller, Thing } from './tenant.js';

/** A place in a route's requests that names a thing by its id. */
export interface Place {
  in: 'path' | 'query' | 'header' | 'body';
  /** `id`, `agentId`; in a body `filter.agentId`, `ids.[]`, `dependsOn.[].|1.taskId`. */
  at: string;
  thing: Thing;
  /** Whether people can send first digits there. */
  short: boolean;
}

const BY_NAME: Record<string, Thing> = {
  workspaceId: 'workspace',
  workspace: 'workspace',
  userId: 'user',
  issuedBy: 'user',
  actorId: 'user',
  projectId: 'project',
  repositoryId: 'repository',
  changeId: 'change',
  parentTaskId: 'task',
  milestoneId: 'milestone',
  agentId: 'agent',
  taskId: 'prerequisite',
  scheduleId: 'schedule',
  currentTaskId: 'task',
  dependsOn: 'prerequisite',
  dependsOnId: 'prerequisite',
  runId: 'run',
  runIds: 'run',
  // The scope of a budget is a project here.
  scopeId: 'project',
  to: 'otherBudget',
};

/**
 * The thing that a plain `id` names, by the word before it. For `ids` in a body, the last word of
 * the path counts.
 */
const BY_COLLECTION: Record<string, Thing> = {
  'agent-tasks': 'task',
  budgets: 'budget',
  bulk: 'task',
  'dead-letter': 'task',
  agents: 'agent',
  artifacts: 'artifact',
  'api-keys': 'apiKey',
  'inbound-hooks': 'inboundHook',
  schedules: 'schedule',
  'task-templates': 'taskTemplate',
  invitations: 'invitation',
  milestones: 'milestone',
  pauses: 'pause',
  projects: 'project',
  'provider-limits': 'providerLimit',
  repositories: 'repository',
  changes: 'change',
  'change-steps': 'change',
  questions: 'question',
  sessions: 'session',
  users: 'user',
  webhooks: 'webhook',
};

/** Ids that a client chooses and that name nothing here. */
const NO_THINGS = ['bootId', 'previousBootId', 'requestId', 'attachments', 'attachmentsId'];

/** Returns every place of the route's path, query and body. `headerPlaces` has the headers. */
export function placesOf(route: Route): Place[] {
  const named = (where: 'path' | 'query', { name, schema }: Parameter): Place => ({
    in: where,
    at: name,
    short: isShortId(schema.items ?? schema),
    // A filter names the rows to read. The body of a claim names the tasks to wait for.
    thing: where === 'query' && name === 'taskId' ? 'task' : thingOf(route, name),
  });
  return [
    ...route.pathParams
      .filter((param) => valueOf(param) === undefined)
      .map((param) => named('path', param)),
    ...route.queryParams
      .filter(({ schema }) => isId(schema) || isId(schema.items ?? {}))
      .map((param) => named('query', param)),
    ...bodyPlaces(route),
  ];
}

/** The header X-Workspace-Id, if the route acts in a workspace. */
export function headerPlaces({ access }: Route): Place[] {
  const actsInWorkspace =
    access !== undefined && (access.role !== undefined || !access.kinds.includes('user'));
  if (!actsInWorkspace) return [];
  return [{ in: 'header', at: 'x-workspace-id', thing: 'workspace', short: false }];
}

function bodyPlaces(route: Route): Place[] {
  const found: Place[] = [];
  const walk = (schema: Schema, path: string[]): void => {
    const end = path.at(-1) ?? '';
    // The parent of a new task is for agents alone, whose tasks have their own tests.
    const isParent = end === 'parentTaskId' && path.at(-2) !== 'filter';
    if (isId(schema) && !NO_THINGS.includes(end) && !isParent) {
      const name = path.filter((part) => /^\w/.test(part)).at(-1) as string;
      const thing = thingOf(route, name);
      found.push({ in: 'body', at: path.join('.'), thing, short: isShortId(schema) });
    }
    if (schema.items) walk(schema.items, [...path, '[]']);
    schema.oneOf?.forEach((one, index) => walk(one, [...path, `|${index}`]));
    for (const [name, child] of Object.entries(schema.properties ?? {})) {
      walk(child, [...path, name]);
    }
  };
  if (route.body) walk(route.body, []);
  return found;
}

/** A value that names no thing of a tenant: an id of the client, or the first word of a closed list. */
function valueOf({ name, schema }: Parameter): string | undefined {
  return NO_THINGS.includes(name) ? newId() : (schema.enum?.[0] as string | undefined);
}

function thingOf(route: Route, name: string): Thing {
  const words = route.path.split('/');
  const end = words.indexOf('{id}');
  const before = name === 'id' && end !== -1 ? words.slice(0, end) : words;
  const collection = before.filter((word) => word in BY_COLLECTION).at(-1) ?? '';
  const thing = BY_NAME[name] ?? (/^ids?$/.test(name) ? BY_COLLECTION[collection] : undefined);
  if (thing === undefined) throw new Error(`${route.name}: what does ${name} name? Say so here.`);
  return thing;
}

/** The ids for the places of a request. Missing ones are the caller's own. */
export type Ids = ReadonlyMap<Place, string>;

export interface Asker {
  kind: CallerKind;
  caller: TenantCaller;
  /** Fields that some routes need besides the required fields of their schema. */
  extras?: Record<string, unknown>;
}

/** Builds a valid request with the given ids in their places. */
export function requestWith(route: Route, asker: Asker, ids: Ids): Wire {
  const { own, headers } = asker.caller;
  const values: Record<string, string> = {};
  for (const param of route.pathParams) {
    values[param.name] = valueOf(param) ?? own[thingOf(route, param.name)];
  }
  const query: Record<string, string> = {};
  const changed: Record<string, string> = {};
  for (const [{ in: where, at }, id] of ids) {
    if (where === 'path') values[at] = id;
    if (where === 'query') query[at] = id;
    if (where === 'header') changed[at] = id;
  }
  const extras = isGatewayRoute(route) ? GATEWAY_BODY : asker.extras;
  const body = route.body && bodyWith(route.body, { ...asker, extras }, ids);
  return {
    method: route.method,
    path: withQuery(fillPath(route, values), query),
    headers: isGatewayRoute(route)
      ? gatewayHeaders()
      : { ...withoutWorkspace(route, headers), ...changed },
    text: body === undefined ? undefined : JSON.stringify(body),
  };
}

/** The path alone can name the workspace. A header beside it would be another reason to refuse. */
function withoutWorkspace(route: Route, headers: Record<string, string>): Record<string, string> {
  if (!route.path.includes('{workspaceId}')) return headers;
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'x-workspace-id'));
}

function bodyWith(schema: Schema, { kind, caller, extras }: Asker, ids: Ids) {
  const names = Object.keys(schema.properties ?? {});
  const inBody = [...ids].filter(([place]) => place.in === 'body');
  let body: Record<string, unknown> = { ...sampleObject(schema), ...extras };
  // Each field needs the other, or there would be another reason to refuse.
  if (names.includes('runId') && kind === 'agent') body.runId = caller.own.run;
  if (names.includes('attempts')) {
    body.task = {
      ...sampleObject(schema.properties?.task ?? {}),
      repositoryId: caller.own.repository,
    };
  }
  for (const [{ at }, id] of inBody) {
    if (at.endsWith('milestoneId')) {
      const project = at.replace('milestoneId', 'projectId').split('.');
      body = put(schema, body, project, caller.own.project) as Record<string, unknown>;
    }
    body = put(schema, body, at.split('.'), id) as Record<string, unknown>;
  }
  return body;
}

function put(schema: Schema, value: unknown, path: string[], id: string): unknown {
  const [head, ...rest] = path;
  if (head === undefined) return id;
  if (head === '[]') {
    const [before] = (value ?? []) as unknown[];
    return [put(schema.items ?? {}, before, rest, id)];
  }
  if (head.startsWith('|')) {
    return put(schema.oneOf?.[Number(head.slice(1))] ?? {}, undefined, rest, id);
  }
  const before = (value ?? sampleObject(schema)) as Record<string, unknown>;
  return { ...before, [head]: put(schema.properties?.[head] ?? {}, before[head], rest, id) };
}
