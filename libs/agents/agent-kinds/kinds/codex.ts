import { join } from 'node:path/posix';
import type { AgentContext, AgentKind, AgentLaunch, McpServer } from '../domain/agent-kind.js';
import {
  needsNoPermission,
  type Referring,
  serverVariables,
  withVariables,
} from '../domain/mcp-servers.js';
import { commandOf, KindSettings } from '../domain/settings.js';
import { CodexConversation } from '../protocols/codex-app-server.js';

export const codex: AgentKind = {
  name: 'codex',
  title: 'Codex',
  provider: 'openai',
  program: {
    name: 'codex',
    npm: { package: '@openai/codex', version: '0.169.0', sizeMb: 404 },
    needsInstallScript: false,
    // The script sets only variables for updates, which are off here.
    native: {
      'linux-x64': '@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex',
      'linux-arm64': '@openai/codex-linux-arm64/vendor/aarch64-unknown-linux-musl/bin/codex',
    },
  },
  instructionsFile: 'AGENTS.md',
  minMemoryMb: 512,
  defaultModel: 'gpt-5.5',
  needsSameWorkDir: false,
  settings: {
    reasoningEffort: 'the effort of reasoning models: minimal, low, medium, high, xhigh',
  },
  launch,
  converse: (io, context) => new CodexConversation(io, context),
  // The other files in its home hold absolute paths: a copy of them would write into the old home.
  stateFiles: (conversationId) => [`sessions/**/rollout-*-${conversationId}.jsonl`],
};

function launch(context: AgentContext): AgentLaunch {
  const { program, stateDir, instructions, modelProxy } = context;
  const files = [{ path: join(stateDir, 'config.toml'), content: toConfig(context) }];
  if (instructions !== undefined) {
    files.push({ path: join(stateDir, 'AGENTS.md'), content: instructions });
  }
  return {
    command: commandOf(program, 'app-server'),
    env: {
      ...serverVariables(context.mcpServers, NAMES),
      CODEX_HOME: stateDir,
      [TOKEN]: modelProxy.token,
    },
    files,
  };
}

const TOKEN = 'DROVER_MODEL_TOKEN';
/** Its configuration names variables, and has no references in texts. */
const NAMES: Referring = { reference: String };

/** Without telemetry, updates and retries of its own: the model proxy decides about retries. */
function toConfig(context: AgentContext): string {
  const { model, modelProxy, mcpServers, permissionMode, settings } = context;
  const effort = new KindSettings(codex, settings).string('reasoningEffort');
  const lines = [
    `model = ${quote(model ?? codex.defaultModel ?? '')}`,
    ...(effort === undefined ? [] : [`model_reasoning_effort = ${quote(effort)}`]),
    'model_provider = "drover"',
    'check_for_update_on_startup = false',
    '[model_providers.drover]',
    'name = "drover"',
    `base_url = ${quote(`${modelProxy.url}/openai/v1`)}`,
    `env_key = "${TOKEN}"`,
    'wire_api = "responses"',
    'request_max_retries = 0',
    'stream_max_retries = 0',
    '[analytics]',
    'enabled = false',
    '[features]',
    'plugins = false',
    'apps = false',
  ];
  for (const server of withVariables(mcpServers, NAMES)) {
    const mode = needsNoPermission(server, permissionMode) ? 'approve' : 'prompt';
    lines.push(
      `[mcp_servers.${quote(server.name)}]`,
      ...toServer(server),
      `default_tools_approval_mode = "${mode}"`,
      `startup_timeout_sec = ${SERVER_START_SECONDS}`,
    );
  }
  return `${lines.join('\n')}\n`;
}

/** Servers that a package manager downloads first are slow. */
const SERVER_START_SECONDS = 60;

function toServer(server: McpServer): string[] {
  if ('url' in server) {
    const headers = Object.entries(server.headers);
    const pairs = headers.map(([key, value]) => `${quote(key)} = ${quote(value)}`);
    return [`url = ${quote(server.url)}`, `env_http_headers = { ${pairs.join(', ')} }`];
  }
  // Codex passes variables on under their own names only, so a shell gives them the wanted ones.
  const { command, args, env } = server;
  const exports = Object.entries(env).map(([name, variable]) => `export ${name}="$${variable}"; `);
  const words = ['-c', `${exports.join('')}exec "$@"`, 'sh', command, ...args];
  return [
    'command = "sh"',
    `args = [${words.map(quote).join(', ')}]`,
    `env_vars = [${Object.values(env).map(quote).join(', ')}]`,
  ];
}

/** A basic string of TOML has the escapes of JSON. */
function quote(text: string): string {
  return JSON.stringify(text).replaceAll('\u007F', String.raw`\u007F`);
}
