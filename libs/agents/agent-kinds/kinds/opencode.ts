import { join } from 'node:path/posix';
import type {
  AgentContext,
  AgentKind,
  AgentLaunch,
  McpServer,
  PermissionMode,
} from '../domain/agent-kind.js';
import {
  needsNoPermission,
  type Referring,
  serverVariables,
  withVariables,
} from '../domain/mcp-servers.js';
import { commandOf, KindSettings } from '../domain/settings.js';
import { AcpConversation } from '../protocols/acp.js';

export const opencode: AgentKind = {
  name: 'opencode',
  title: 'opencode',
  provider: 'openai',
  program: {
    name: 'opencode',
    npm: { package: 'opencode-ai', version: '1.18.33', sizeMb: 354 },
    needsInstallScript: true,
  },
  instructionsFile: 'AGENTS.md',
  minMemoryMb: 2048,
  defaultModel: 'gpt-5.5',
  needsSameWorkDir: true,
  settings: {},
  launch,
  converse: (io, context) =>
    // Its configuration names the servers.
    new AcpConversation(
      io,
      { ...context, mcpServers: [] },
      {
        modes: { auto: 'build', ask: 'build', plan: 'plan', 'read-only': 'build' },
      },
    ),
  stateFiles: () => ['data/opencode/opencode.db*'],
};

/** Each permission has a value: with one that asks nobody, the program waits for ever. */
const PERMISSIONS: Record<PermissionMode, Record<string, string>> = {
  auto: { '*': 'allow', external_directory: 'allow', question: 'deny' },
  ask: asking('ask'),
  plan: asking('deny'),
  'read-only': asking('deny'),
};

function asking(changes: 'ask' | 'deny'): Record<string, string> {
  const harmless = ['read', 'list', 'glob', 'grep', 'todoread', 'todowrite', 'task', 'skill'];
  return {
    '*': changes,
    ...Object.fromEntries(harmless.map((tool) => [tool, 'allow'])),
    question: 'deny',
  };
}

function launch(context: AgentContext): AgentLaunch {
  const { stateDir, instructions, program } = context;
  new KindSettings(opencode, context.settings);
  const config = join(stateDir, 'config');
  const files = [
    { path: join(config, 'opencode', 'opencode.json'), content: JSON.stringify(toConfig(context)) },
  ];
  if (instructions !== undefined) {
    files.push({ path: join(config, 'opencode', 'AGENTS.md'), content: instructions });
  }
  return {
    command: commandOf(program, 'acp'),
    env: {
      ...serverVariables(context.mcpServers, BRACES),
      [TOKEN]: context.modelProxy.token,
      XDG_DATA_HOME: join(stateDir, 'data'),
      XDG_CONFIG_HOME: config,
      XDG_STATE_HOME: join(stateDir, 'state'),
      XDG_CACHE_HOME: join(stateDir, 'cache'),
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_AUTOUPDATE: '1',
    },
    files,
  };
}

const TOKEN = 'DROVER_MODEL_TOKEN';
const reference = (variable: string) => `{env:${variable}}`;
/** It replaces references in the text of its configuration, before it reads that as JSON. */
const BRACES: Referring = {
  reference,
  special: /\{/,
  encode: (text) => JSON.stringify(text).slice(1, -1),
};

function toConfig({ modelProxy, permissionMode, ...context }: AgentContext) {
  const model = context.model ?? opencode.defaultModel ?? '';
  const name = `drover/${model}`;
  const servers = withVariables(context.mcpServers, BRACES).map(
    (server) => [server.name, toServer(server)] as const,
  );
  const tools = context.mcpServers
    .filter((server) => needsNoPermission(server, permissionMode))
    .map((server) => [`${server.name}_*`, 'allow'] as const);
  return {
    share: 'disabled',
    autoupdate: false,
    permission: withTools(PERMISSIONS[permissionMode], Object.fromEntries(tools)),
    enabled_providers: ['drover'],
    model: name,
    small_model: name,
    mcp: Object.fromEntries(servers),
    provider: {
      drover: {
        npm: '@ai-sdk/openai-compatible',
        options: { baseURL: `${modelProxy.url}/openai/v1`, apiKey: reference(TOKEN) },
        models: { [model]: { limit: { context: 200_000, output: 32_000 } } },
      },
    },
  };
}

/** The last pattern that matches decides: a server's name must not allow a tool of the program. */
function withTools(permissions: Record<string, string>, tools: Record<string, string>) {
  return { '*': permissions['*'], ...tools, ...permissions };
}

function toServer(server: McpServer) {
  if ('url' in server) {
    return { type: 'remote', url: server.url, headers: server.headers, oauth: false };
  }
  const { command, args, env } = server;
  return { type: 'local', command: [command, ...args], environment: env };
}
