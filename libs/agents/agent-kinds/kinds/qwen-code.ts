import { join } from 'node:path/posix';
import type { AgentContext, AgentKind, AgentLaunch } from '../domain/agent-kind.js';
import { DOLLARS, geminiServers, serverVariables } from '../domain/mcp-servers.js';
import { commandOf, KindSettings } from '../domain/settings.js';
import { AcpConversation } from '../protocols/acp.js';

export const qwenCode: AgentKind = {
  name: 'qwen-code',
  title: 'Qwen Code',
  provider: 'openai',
  program: {
    name: 'qwen',
    npm: { package: '@qwen-code/qwen-code', version: '0.24.4', sizeMb: 144 },
    needsInstallScript: false,
  },
  instructionsFile: 'QWEN.md',
  minMemoryMb: 512,
  defaultModel: 'qwen3-coder-plus',
  needsSameWorkDir: true,
  settings: {},
  launch,
  converse: (io, context) =>
    // Its settings name the servers.
    new AcpConversation(
      io,
      { ...context, mcpServers: [] },
      {
        modes: { auto: 'yolo', ask: 'default', plan: 'plan', 'read-only': 'default' },
      },
    ),
  stateFiles: (conversationId) => [`projects/*/chats/${conversationId}*`],
};

function launch(context: AgentContext): AgentLaunch {
  const { stateDir, instructions, modelProxy, model, program } = context;
  new KindSettings(qwenCode, context.settings);
  // Their tools are in each request. Otherwise the agent must search for them first.
  const mcpServers = geminiServers(context.mcpServers, context.permissionMode, {
    alwaysLoadTools: true,
  });
  const files = [
    { path: join(stateDir, 'settings.json'), content: JSON.stringify({ ...QUIET, mcpServers }) },
  ];
  if (instructions !== undefined) {
    files.push({ path: join(stateDir, 'QWEN.md'), content: instructions });
  }
  return {
    command: commandOf(program, '--acp', '-m', model ?? qwenCode.defaultModel ?? ''),
    env: {
      ...serverVariables(context.mcpServers, DOLLARS),
      QWEN_HOME: stateDir,
      OPENAI_API_KEY: modelProxy.token,
      OPENAI_BASE_URL: `${modelProxy.url}/openai/v1`,
      QWEN_CODE_NO_RELAUNCH: 'true',
      // The first turn waits for the tools of MCP servers.
      QWEN_CODE_LEGACY_MCP_BLOCKING: '1',
    },
    files,
  };
}

/** Without telemetry, updates, retries of its own, and requests that remember past sessions. */
const QUIET = {
  security: { auth: { selectedType: 'openai' } },
  general: { enableAutoUpdate: false },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  memory: { enableManagedAutoMemory: false, enableManagedAutoDream: false, enableAutoSkill: false },
  model: { generationConfig: { maxRetries: 0 } },
};
