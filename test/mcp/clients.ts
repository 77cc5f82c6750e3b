import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { TestAgent, TestServer, TestWorkspace } from '../support/shared-server.js';

/** The built command `drover`. */
export const DROVER = join(import.meta.dirname, '../../scripts/drover.mjs');

export type Via = 'stdio' | 'http';
export const VIAS: readonly Via[] = ['stdio', 'http'];

/** The answer of a tool. */
export interface ToolAnswer {
  isError: boolean;
  text: string;
  data: Record<string, unknown>;
}

export interface McpClient {
  client: Client;
  /** Names of the offered tools in alphabetical order. */
  tools(): Promise<string[]>;
  call(name: string, input?: Record<string, unknown>): Promise<ToolAnswer>;
}

const open = new Set<Client>();

/** Connects an MCP client that starts `drover mcp` or calls `/mcp`. */
export async function connectClient(via: Via, app: TestServer, token: string): Promise<McpClient> {
  return connect(via === 'http' ? overHttp(app, token) : overStdio(app, token));
}

/** Connects like the program of a coding agent. */
export function connectCodingAgent(app: TestServer, token: string): Promise<McpClient> {
  return connect(overHttp(app, token, '?hosted=true'));
}

async function connect(transport: Transport): Promise<McpClient> {
  const client = new Client({ name: 'tests', version: '1' });
  open.add(client);
  await client.connect(transport);
  return {
    client,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name).sort(),
    call: async (name, input = {}) => {
      const result = (await client.callTool({ name, arguments: input })) as CallToolResult;
      const [first] = result.content;
      return {
        isError: result.isError === true,
        text: first?.type === 'text' ? first.text : '',
        data: (result.structuredContent?.data ?? {}) as Record<string, unknown>,
      };
    },
  };
}

export async function closeClients(): Promise<void> {
  for (const client of open) await client.close();
  open.clear();
}

function overHttp({ url }: TestServer, token: string, query = '') {
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  return new StreamableHTTPClientTransport(new URL(`${url}/mcp${query}`), { requestInit });
}

function overStdio({ url }: TestServer, token: string) {
  const variable = token.startsWith('drv_') ? 'DROVER_API_KEY' : 'DROVER_RUN_TOKEN';
  return new StdioClientTransport({
    command: process.execPath,
    args: [DROVER, 'mcp'],
    env: { DROVER_API_URL: `${url}/api/v1`, [variable]: token },
    stderr: 'inherit',
  });
}

/** Creates an API key of a workspace. */
export async function createKey(
  workspace: TestWorkspace,
  values: Record<string, unknown> = {},
): Promise<string> {
  const path = `/workspaces/${workspace.id}/api-keys`;
  const scopes = ['tasks:write', 'agents:read'];
  const made = await workspace.api.post(path, { name: 'an assistant', scopes, ...values });
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  return String(made.body.key);
}

export interface HeldRun {
  taskId: string;
  runId: string;
  token: string;
  agent: TestAgent;
}

/** Creates a task and claims it for a new agent. */
export async function claimRun(
  workspace: TestWorkspace,
  task: Record<string, unknown> = {},
): Promise<HeldRun> {
  // Some tasks change a repository.
  const agent = await workspace.newAgent({ capabilities: ['git'] });
  const { body } = await workspace.api.post('/agent-tasks', {
    title: 'Translate page 7',
    taskType: 'translation',
    agentId: agent.id,
    ...task,
  });
  const { id, token } = await claim(agent, String(body.id));
  return { taskId: String(body.id), runId: id, token, agent };
}

/** Claims the next run of the task. @returns its token */
export async function claimToken(agent: HeldRun['agent'], taskId: string): Promise<string> {
  return (await claim(agent, taskId)).token;
}

async function claim(
  agent: HeldRun['agent'],
  taskId: string,
): Promise<{ id: string; token: string }> {
  const { body } = await agent.api.post<Claimed>(`/agents/${agent.id}/claim`, { taskId });
  const [held] = body.tasks;
  if (held === undefined) throw new Error(`nothing claimed of ${taskId}`);
  return held.run;
}

interface Claimed {
  tasks: { run: { id: string; token: string } }[];
}
