import { newId } from '#lib/kernel';
import type { TestServer } from '../../support/shared-server.js';
import type { Route } from './openapi.js';
import { anOperator, type Tenant } from './tenant.js';

export interface Account {
  email: string;
  password: string;
  accessToken: string;
  refreshToken: string;
}

const USAGE = { id: 'one', model: 'claude-sonnet-4', inputTokens: 1, outputTokens: 1 };

const REFUSAL = { model: 'claude-sonnet-4' };

const TEMPLATE = { title: '{{issue.title}}', taskType: 'issue' };

/** Fields that no schema can express for these routes. */
const EXTRAS: Record<string, Record<string, unknown>> = {
  'PUT /model-routing': { rules: [{ tier: 'opus' }] },
  'POST /budgets': {
    scope: 'project',
    periodStart: '2036-01-01T00:00:00Z',
    periodEnd: '2036-02-01T00:00:00Z',
  },
  'POST /inbound-hooks': {
    kind: 'github',
    rules: [{ on: 'issues', do: 'create_task', task: TEMPLATE }],
  },
  'PATCH /inbound-hooks/{id}': { rules: undefined },
  'POST /schedules': { everySeconds: 60 },
  'POST /schedules/preview': { everySeconds: 60 },
  'POST /runs/{runId}/questions': { deadlineSeconds: 60, onDeadline: 'fail' },
  'POST /task-attempts': { attempts: 2 },
  'POST /repositories': { url: 'https://example.com/team/shop.git', name: newId() },
  'POST /webhooks': { url: 'https://example.com/hook', events: ['*'] },
  'POST /webhooks/{id}/replay': { state: 'dead' },
  'POST /runs/{runId}/usage': { reports: [USAGE] },
  'POST /agent-tasks/{id}/usage': { reports: [USAGE] },
  'POST /runs/{runId}/provider-limits': REFUSAL,
  'POST /agent-tasks/{id}/provider-limits': REFUSAL,
};

/** Routes without credentials take an account's secrets instead of them. */
const SECRETS: Record<string, (account: Account) => Record<string, unknown>> = {
  'POST /auth/login': ({ email, password }) => ({ email, password }),
  'POST /auth/refresh': ({ refreshToken }) => ({ refreshToken }),
};

/** Returns the fields that a route takes besides the required fields of its schema. */
export async function extrasOf(
  { name }: Route,
  account: () => Promise<Account>,
): Promise<Record<string, unknown>> {
  const secrets = SECRETS[name];
  return secrets ? secrets(await account()) : (EXTRAS[name] ?? {});
}

/** A member of the tenant who can sign in with a password. */
export async function anAccount(app: TestServer, tenant: Tenant): Promise<Account> {
  const { owner } = app.db;
  const bearer = await anOperator(app);
  const [email, password] = [`account-${newId()}@example.test`, newId()];
  const user = await post(app, '/users', { email, name: tenant.marker, password }, bearer);
  await owner.query(
    `INSERT INTO workspace_members (workspace_id, user_id, role) VALUES ($1, $2, 'MEMBER')`,
    [tenant.workspaceId, user.id],
  );
  const { accessToken, refreshToken } = await post(app, '/auth/login', { email, password });
  return { email, password, accessToken: String(accessToken), refreshToken: String(refreshToken) };
}

async function post(
  app: TestServer,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Record<string, unknown>> {
  const response = await fetch(`${app.url}/api/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return (await response.json()) as Record<string, unknown>;
}
