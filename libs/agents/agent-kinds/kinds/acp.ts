import type { AgentContext, AgentKind, AgentLaunch } from '../domain/agent-kind.js';
import { commandOf, KindSettings } from '../domain/settings.js';
import { AcpConversation } from '../protocols/acp.js';

export const acp: AgentKind = {
  name: 'acp',
  title: 'Agent Client Protocol',
  program: null,
  instructionsFile: 'AGENTS.md',
  minMemoryMb: 512,
  needsSameWorkDir: true,
  settings: {
    command: 'the command of a program that speaks the protocol, as a list (required)',
    environment: 'further variables; {proxy}, {token} and {state} in them are replaced',
    mode: 'the session mode to set; its modes are those of the program',
  },
  launch,
  converse: (io, context) => {
    const mode = new KindSettings(acp, context.settings).string('mode');
    const { permissionMode } = context;
    return new AcpConversation(io, context, {
      modes: mode === undefined ? {} : { [permissionMode]: mode },
    });
  },
  stateFiles: () => ['**'],
};

function launch({ settings, stateDir, modelProxy }: AgentContext): AgentLaunch {
  const read = new KindSettings(acp, settings);
  const command = read.strings('command') ?? [];
  if (command.length === 0) throw read.error('command', 'a list with at least one text');
  const places: Record<string, string> = {
    proxy: modelProxy.url,
    token: modelProxy.token,
    state: stateDir,
  };
  const own = Object.entries(read.record('environment')).map(
    ([name, value]) =>
      [
        name,
        value.replaceAll(/\{(proxy|token|state)\}/g, (_all, key: string) => places[key] ?? ''),
      ] as const,
  );
  const { url, token } = modelProxy;
  return {
    command: commandOf(command),
    env: {
      HOME: stateDir,
      ANTHROPIC_BASE_URL: `${url}/anthropic`,
      ANTHROPIC_API_KEY: token,
      OPENAI_BASE_URL: `${url}/openai/v1`,
      OPENAI_API_KEY: token,
      GOOGLE_GEMINI_BASE_URL: `${url}/gemini`,
      GEMINI_API_KEY: token,
      ...Object.fromEntries(own),
    },
    files: [],
  };
}
