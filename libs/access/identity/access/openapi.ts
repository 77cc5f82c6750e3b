import type { OpenAPIObject } from '@nestjs/swagger';
import type { CallerKind, DescribedAccess } from '../domain/access-plan.js';
import { ACCESS_EXTENSION } from './decorators.js';

const SCHEMES: Record<CallerKind, { name: string; bearerFormat: string; description: string }> = {
  user: {
    name: 'userToken',
    bearerFormat: 'JWT',
    description:
      'The access token of a user. It is valid for 15 minutes. `POST /api/v1/auth/login` ' +
      'issues it.',
  },
  api_key: {
    name: 'apiKey',
    bearerFormat: 'drv_…',
    description:
      'A key for programs. It is valid for its scopes. `POST ' +
      '/api/v1/workspaces/{workspaceId}/api-keys` creates it.',
  },
  agent: {
    name: 'agentToken',
    bearerFormat: 'JWT',
    description: 'The token of one agent. `POST /api/v1/agents/{id}/token` issues it.',
  },
  run: {
    name: 'runToken',
    bearerFormat: 'JWT',
    description:
      'The token of one run, for the process that executes it. A claimed task has it as ' +
      '`run.token`.',
  },
};

const WORKSPACE_HEADER = {
  name: 'X-Workspace-Id',
  in: 'header',
  required: false,
  description:
    'The workspace of the request. Users must send it unless the path names a workspace. ' +
    'All other credentials belong to one workspace and can name only that one.',
  schema: { type: 'string', format: 'uuid' },
} as const;

type Path = OpenAPIObject['paths'][string];
type Operation = NonNullable<Path['get']> & { [ACCESS_EXTENSION]?: DescribedAccess };

/**
 * Routes of the installation, not of a workspace. They have their own guard and `@ApiBearerAuth`.
 */
const GATEWAY = {
  name: 'gatewayToken',
  bearerFormat: 'JWT',
  description: 'A token that the gateway signs with the secret that it shares with the server.',
};

const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const;

/** Documents the callers of each route, in words and with their kinds of tokens. */
export function describeCallers(document: OpenAPIObject): void {
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const method of METHODS) {
      const operation: Operation | undefined = operations[method];
      if (!operation) continue;
      const access = operation[ACCESS_EXTENSION];
      if (access) describeCaller(operation, access, path);
      operation.security ??= [];
      const callers = access ? callersInWords(access) : callersOfOthers(operation);
      operation.description = [operation.description, callers].filter(Boolean).join('\n\n');
    }
  }
  document.components = {
    ...document.components,
    securitySchemes: Object.fromEntries(
      [...Object.values(SCHEMES), GATEWAY].map(({ name, ...scheme }) => [
        name,
        { type: 'http', scheme: 'bearer', ...scheme },
      ]),
    ),
  };
}

function describeCaller(operation: Operation, access: DescribedAccess, path: string): void {
  operation.security = access.kinds.map((kind) => ({ [SCHEMES[kind].name]: [] }));
  const actsInWorkspace = access.role !== undefined || !access.kinds.includes('user');
  if (!actsInWorkspace || path.includes('{workspaceId}')) return;
  operation.parameters = [...(operation.parameters ?? []), WORKSPACE_HEADER];
}

/** Derived from the guard's own data, so that the two cannot differ. */
export function callersInWords({ kinds, role, scope, operator }: DescribedAccess): string {
  const withRole = role === 'OWNER' ? 'the role OWNER' : `the role ${role} or above`;
  const keyRole = kinds.includes('user') ? 'that role' : withRole;
  const words: Record<CallerKind, string> = {
    user: operator ? 'operators of the installation' : `users with ${withRole}`,
    api_key: `API keys with ${keyRole} ${scope ? `and the scope \`${scope}\`` : 'and any scope'}`,
    agent: 'agents with their own token',
    run: 'processes that execute a run, with its token',
  };
  if (role === undefined && !operator) words.user = 'users, whatever their roles';
  return `Callers: ${kinds.map((kind) => words[kind]).join('; ')}.`;
}

function callersOfOthers({ security }: Operation): string {
  const isOfGateways = security?.some((one) => GATEWAY.name in one);
  return isOfGateways
    ? 'Callers: gateways with a token that they signed.'
    : 'Callers: anybody, without credentials.';
}
