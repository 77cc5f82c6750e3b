import { join } from 'node:path/posix';
import type {
  AgentContext,
  AgentKind,
  AgentLaunch,
  McpServer,
  PermissionMode,
} from '../domain/agent-kind.js';
import { DOLLARS, serverVariables, withVariables } from '../domain/mcp-servers.js';
import { commandOf, KindSettings } from '../domain/settings.js';
import { ClaudeConversation } from '../protocols/claude-stream.js';

export const claudeCode: AgentKind = {
  name: 'claude-code',
  title: 'Claude Code',
  provider: 'anthropic',
  program: {
    name: 'claude',
    npm: { package: '@anthropic-ai/claude-code', version: '2.1.331', sizeMb: 381 },
    needsInstallScript: true,
  },
  instructionsFile: 'CLAUDE.md',
  minMemoryMb: 1024,
  defaultModel: 'claude-sonnet-4-5',
  needsSameWorkDir: false,
  settings: { maxTurns: 'the number of model requests after which it stops' },
  launch,
  converse: (io, context) => new ClaudeConversation(io, context),
  stateFiles: (conversationId) => [`projects/*/${conversationId}.jsonl`],
};

const MODES: Record<PermissionMode, string> = {
  auto: 'bypassPermissions',
  ask: 'default',
  plan: 'plan',
  'read-only': 'default',
};

function launch(context: AgentContext): AgentLaunch {
  const { stateDir, instructions, permissionMode } = context;
  const mcpFile = join(stateDir, 'drover-mcp.json');
  const servers = withVariables(context.mcpServers, DOLLARS).map(
    (server) => [server.name, toServer(server)] as const,
  );
  const files = [
    { path: mcpFile, content: JSON.stringify({ mcpServers: Object.fromEntries(servers) }) },
  ];
  if (instructions !== undefined) {
    files.push({ path: join(stateDir, 'CLAUDE.md'), content: instructions });
  }
  const maxTurns = new KindSettings(claudeCode, context.settings).count('maxTurns');
  const parameters = [
    '-p',
    '--input-format=stream-json',
    '--output-format=stream-json',
    '--verbose',
    '--include-partial-messages',
    `--model=${context.model ?? claudeCode.defaultModel ?? ''}`,
    `--permission-mode=${MODES[permissionMode]}`,
    '--strict-mcp-config',
    `--mcp-config=${mcpFile}`,
    context.resume === undefined
      ? `--session-id=${context.sessionId}`
      : `--resume=${context.resume}`,
  ];
  if (permissionMode !== 'auto') parameters.push('--permission-prompt-tool=stdio');
  if (maxTurns !== undefined) parameters.push(`--max-turns=${maxTurns}`);
  return { command: commandOf(context.program, ...parameters), env: toEnv(context), files };
}

function toServer(server: McpServer) {
  if ('url' in server) return { type: 'http', url: server.url, headers: server.headers };
  const { command, args, env } = server;
  return { type: 'stdio', command, args, env };
}

/** Without telemetry, updates and retries of its own. */
function toEnv(context: AgentContext): Record<string, string> {
  const { stateDir, modelProxy, isRoot } = context;
  return {
    ...serverVariables(context.mcpServers, DOLLARS),
    ANTHROPIC_BASE_URL: `${modelProxy.url}/anthropic`,
    ANTHROPIC_API_KEY: modelProxy.token,
    CLAUDE_CONFIG_DIR: stateDir,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    CLAUDE_CODE_MAX_RETRIES: '0',
    DISABLE_AUTOUPDATER: '1',
    // Tools of MCP servers are in each request. Otherwise the agent must search for them first.
    ENABLE_TOOL_SEARCH: 'false',
    // As root it bypasses permissions only if it knows that it is in a sandbox.
    ...(isRoot ? { IS_SANDBOX: '1' } : {}),
  };
}
