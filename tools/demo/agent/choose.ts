import { type AgentKind, KINDS, type Provider } from '#lib/agent-kinds';

/** The variables with which the server and its operators name keys and addresses of providers. */
const VARIABLES: Record<Provider, { key: string; baseUrl: string }> = {
  anthropic: { key: 'ANTHROPIC_API_KEY', baseUrl: 'ANTHROPIC_BASE_URL' },
  openai: { key: 'OPENAI_API_KEY', baseUrl: 'OPENAI_BASE_URL' },
  gemini: { key: 'GEMINI_API_KEY', baseUrl: 'GOOGLE_GEMINI_BASE_URL' },
};

/** A kind with a program, and a provider of its own. */
export type ProgramKind = AgentKind & {
  program: NonNullable<AgentKind['program']>;
  provider: Provider;
};

/** The model that answers the agent: that of a provider, or a script. */
export type Answers =
  | { by: 'provider'; key: string; baseUrl: string | undefined; variable: string }
  /** @property `unused` the variables with keys that no agent of this machine uses */
  | { by: 'stand-in'; unused: string[] };

export interface Choice {
  kind: ProgramKind;
  isInstalled: boolean;
  answers: Answers;
}

/** The agent that is downloaded if none is installed. */
const DOWNLOADED = 'codex';
/** Without a key, only agents with an open licence run. */
const CLOSED = ['claude-code'];

/**
 * Chooses the agent of the demo: an installed one for whose provider there is a key, else one that a
 * download can make of it, else one for the stand-in.
 *
 * @param installed the names of the kinds that this machine can run
 */
export function chooseAgent(
  installed: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Choice {
  const kinds = KINDS.filter(hasProgram);
  const byPreference = [...kinds].sort((a, b) => rank(a, installed) - rank(b, installed));
  for (const kind of byPreference) {
    const { key: variable, baseUrl } = VARIABLES[kind.provider];
    const key = env[variable];
    const isInstalled = installed.includes(kind.name);
    if (!key || !(isInstalled || kind.name === DOWNLOADED)) continue;
    const answers = { by: 'provider', key, baseUrl: env[baseUrl] || undefined, variable } as const;
    return { kind, isInstalled, answers };
  }
  const unused = Object.values(VARIABLES).flatMap(({ key }) => (env[key] ? [key] : []));
  const open = byPreference.filter(({ name }) => !CLOSED.includes(name));
  const kind = open.find(({ name }) => installed.includes(name) || name === DOWNLOADED)!;
  return {
    kind,
    isInstalled: installed.includes(kind.name),
    answers: { by: 'stand-in', unused },
  };
}

function rank({ name }: AgentKind, installed: readonly string[]): number {
  return installed.includes(name) ? 0 : 1;
}

function hasProgram(kind: AgentKind): kind is ProgramKind {
  return kind.program !== null && kind.provider !== undefined;
}
