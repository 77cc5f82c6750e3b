import type { AgentEnd } from './agent-end.js';
import type { AgentEvent } from './agent-event.js';

/**
 * What an agent can do without a person. `auto`: everything. `ask`: a change waits for a decision.
 * `plan`: it only makes a plan. `read-only`: each change is refused.
 */
export type PermissionMode = 'auto' | 'ask' | 'plan' | 'read-only';

/** The wire of a provider. The model proxy has a base path for each. */
export type Provider = 'anthropic' | 'openai' | 'gemini';

/** A server of tools (MCP): an address with streamable HTTP, or a program that speaks over stdio. */
export type McpServer = {
  name: string;
  /** True for Drover's own server: no person is asked about its tools. */
  isTrusted: boolean;
} & (
  | { url: string; headers: Record<string, string> }
  | { command: string; args: string[]; env: Record<string, string> }
);

/** A picture that is attached to the words to an agent. */
export interface AgentImage {
  /** Its path inside the sandbox, if it lies there. */
  path?: string;
  /** For instance `image/png`. */
  mediaType: string;
  content: Uint8Array;
}

/** Everything that a kind needs to start one session. All paths are paths inside the sandbox. */
export interface AgentContext {
  /** The first words to the agent, of any length. */
  prompt: string;
  /** Pictures for the model beside the first words. A program that takes none gets none. */
  images?: readonly AgentImage[];
  /** The model. The kind's default applies if it is absent. */
  model?: string;
  permissionMode: PermissionMode;
  /** Settings of the kind. Its description names them. */
  settings: Readonly<Record<string, unknown>>;
  /** The start of the command, as `findKinds` returned it. It is empty for a kind without one. */
  program: readonly string[];
  /** The folder in which the agent works. */
  workDir: string;
  /** The folder of the agent's own state, its home. It is outside the work folder. */
  stateDir: string;
  /** Lasting instructions, which the kind writes into the state folder, never into the work folder. */
  instructions?: string;
  /** The id of the conversation to resume. Its state files are in the state folder. */
  resume?: string;
  /** A UUID, the id of a new conversation of a kind that can take one. */
  sessionId: string;
  /**
   * Whether the conversation waits for further words after a turn, until `finish` is called. The
   * default is a session of one prompt.
   */
  staysOpen?: boolean;
  /**
   * The model proxy, without a slash at its end. Below it are `/anthropic`, `/openai/v1` and
   * `/gemini`. `token` is the key that the agent shows.
   */
  modelProxy: { url: string; token: string };
  /** The values of their headers and variables are in no file. */
  mcpServers: readonly McpServer[];
  /** Whether the agent runs as root inside the sandbox. */
  isRoot: boolean;
}

/** What a host starts. */
export interface AgentLaunch {
  command: [string, ...string[]];
  env: Record<string, string>;
  /** Files to write before the start, with absolute paths below the state folder. */
  files: { path: string; content: string }[];
}

/** The host's side of a conversation. No method can fail or wait. */
export interface AgentIo {
  /** Writes to the program's standard input. */
  write(text: string): void;
  /**
   * Closes the program's standard input: it has nothing more to do. If it still runs 10 s later, the
   * host must end it.
   */
  endInput(): void;
  emit(event: AgentEvent): void;
}

export interface AgentExit {
  exitCode: number | null;
  signal: string | null;
}

/** The kind's side of one session, from its start to the end of its program. */
export interface Conversation {
  /** The program runs, and its input is open. */
  start(): void;
  /** Takes one line of the standard output, without its end. */
  line(text: string): void;
  /** Takes one line of the standard error output. */
  errorLine(text: string): void;
  /**
   * Takes a person's words: after the current turn, or instead of its rest. An event `heard` names
   * the id when the program has them. Without an event, nobody has heard them.
   */
  say(
    text: string,
    deliver: 'turn_end' | 'interrupt',
    id?: string,
    images?: readonly AgentImage[],
  ): void;
  /**
   * Ends the current turn and drops waiting words. The conversation then ends or waits as after any
   * other turn.
   */
  interrupt(): void;
  /**
   * Answers an event `permission`. An unknown or closed id changes nothing.
   *
   * @param why the reason of a denial, for programs that pass one on to the agent
   */
  decide(permissionId: string, decision: 'allow' | 'deny', why?: string): void;
  /** Ends the session after the current turn and the waiting words. */
  finish(): void;
  /**
   * The session ends after the current turn, without the waiting words, if that is wanted. A call
   * after that end changes nothing.
   */
  pauseAfterTurn(isWanted: boolean): void;
  /** The program has ended, and all its lines were taken. Returns the meaning of its end. */
  ended(exit: AgentExit): Promise<AgentEnd>;
}

/** How a program of a kind is found and had. It is null for a kind whose settings name one. */
export interface KindProgram {
  /** The name on the search path. */
  name: string;
  /**
   * The package in the npm registry, the tested version, and the size of its installation
   * in MiB.
   */
  npm: { package: string; version: string; sizeMb: number };
  /** Whether the package is unusable before its own installation script ran. */
  needsInstallScript: boolean;
  /**
   * The program that the script of the package only starts, by platform and processor as Node names
   * them: a path below the folder of the packages. Without that file the script is started.
   */
  native?: Readonly<Record<string, string>>;
}

/** One kind of coding agent. A kind is one file, and one line in `kinds/index.ts`. */
export interface AgentKind {
  /** The name in tasks and settings, for instance `codex`. */
  name: string;
  /** The name for people. */
  title: string;
  /** The wire that it speaks. Undefined if only its settings know. */
  provider?: Provider;
  program: KindProgram | null;
  /** The name of the file with instructions that it reads from the work folder. */
  instructionsFile: string;
  /** The least memory limit with which the program works, in MiB. */
  minMemoryMb: number;
  defaultModel?: string;
  /** Whether a conversation can only be resumed at the same path of the work folder. */
  needsSameWorkDir: boolean;
  /** The names of its settings, with a description for people. */
  settings: Readonly<Record<string, string>>;
  /** @throws {KindSettingsError} for invalid settings */
  launch(context: AgentContext): AgentLaunch;
  converse(io: AgentIo, context: AgentContext): Conversation;
  /**
   * Returns the files that are enough to resume a conversation elsewhere: globs relative to the
   * state folder. Other files there must not be kept.
   */
  stateFiles(conversationId: string): string[];
  /** Returns the name that a state file gets where a conversation is resumed. Default: the same. */
  resumedName?(name: string): string;
}

/** A setting of a kind is missing or invalid. The message is a sentence for people. */
export class KindSettingsError extends Error {
  override name = 'KindSettingsError';
}
