import { join } from 'node:path/posix';
import type { AgentContext, AgentKind, AgentLaunch } from '../domain/agent-kind.js';
import { DOLLARS, geminiServers, serverVariables } from '../domain/mcp-servers.js';
import { commandOf, KindSettings } from '../domain/settings.js';
import { AcpConversation } from '../protocols/acp.js';

export const geminiCli: AgentKind = {
  name: 'gemini-cli',
  title: 'Gemini CLI',
  provider: 'gemini',
  program: {
    name: 'gemini',
    npm: { package: '@google/gemini-cli', version: '0.61.0', sizeMb: 100 },
    needsInstallScript: false,
  },
  instructionsFile: 'GEMINI.md',
  minMemoryMb: 512,
  // With `auto`, each turn asks a second model which model to take.
  defaultModel: 'gemini-2.5-pro',
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
        noise: /^\[MODE_UPDATE\]/,
      },
    ),
  // The conversation's file has a part of its id in its name, and the projects name its folder.
  stateFiles: (conversationId) => [
    '.gemini/projects.json',
    '.gemini/tmp/*/.project_root',
    `.gemini/tmp/*/chats/*${conversationId.slice(0, 8)}*`,
  ],
  // A file of the conversation has the minute in its name. Before a program loads a conversation, it
  // begins an empty one with its id, which would replace a file of the same minute.
  resumedName: (name) => name.replace(/(\/chats\/session-)(?=\d{4}-)/, '$1kept-'),
};

function launch(context: AgentContext): AgentLaunch {
  const { stateDir, instructions, modelProxy, model, program } = context;
  new KindSettings(geminiCli, context.settings);
  const home = join(stateDir, '.gemini');
  const mcpServers = geminiServers(context.mcpServers, context.permissionMode);
  const files = [
    { path: join(home, 'settings.json'), content: JSON.stringify({ ...QUIET, mcpServers }) },
  ];
  if (instructions !== undefined) {
    files.push({ path: join(home, 'GEMINI.md'), content: instructions });
  }
  return {
    command: commandOf(program, '--acp', '-m', model ?? geminiCli.defaultModel ?? ''),
    env: {
      ...serverVariables(context.mcpServers, DOLLARS),
      GEMINI_CLI_HOME: stateDir,
      GEMINI_API_KEY: modelProxy.token,
      GOOGLE_GEMINI_BASE_URL: `${modelProxy.url}/gemini`,
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
      // A second process of its own would outlive a signal to the first.
      GEMINI_CLI_NO_RELAUNCH: 'true',
    },
    files,
  };
}

/** Without telemetry, updates and retries of its own. */
const QUIET = {
  security: { auth: { selectedType: 'gemini-api-key' } },
  general: { enableAutoUpdate: false, maxAttempts: 1 },
  privacy: { usageStatisticsEnabled: false },
};
