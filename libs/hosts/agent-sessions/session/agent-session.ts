import { join, relative } from 'node:path';
import {
  type AgentContext,
  type AgentEnd,
  type AgentEvent,
  type AgentKind,
  type Conversation,
  KindSettingsError,
  type McpServer,
} from '#lib/agent-kinds';
import type { Network } from '#lib/kernel';
import { ModelProxy, type ModelProxyOptions } from '#lib/model-proxy';
import {
  type AddedFile,
  type LateParts,
  LineSplitter,
  makeOwnedTemporary,
  OPEN_INPUT,
  type OutputSink,
  removeTree,
  type RuntimeDriver,
  type RuntimeSession,
  type SessionExit,
  type SessionSignal,
  type SessionSpec,
  SpawnError,
  type Surroundings,
} from '#lib/session-runtime';
import { serversOfSession } from './servers-of-session.js';

/** A kind that this machine can start. */
export interface OfferedKind {
  kind: AgentKind;
  /** The start of its command. */
  program: readonly string[];
  /** The folders of its program, which a sandbox must show. */
  folders: readonly string[];
}

/** The parts of a session that can come while its sandbox is made. */
export interface AgentWords extends Pick<
  AgentContext,
  'prompt' | 'images' | 'instructions' | 'mcpServers' | 'resume'
> {
  /** Files of an earlier session: those of its conversation and of its working folder. */
  takenOver?: SessionSpec['otherFiles'];
}

/** One session of a coding agent. */
export interface AgentWork
  extends OfferedKind, Pick<AgentContext, 'model' | 'permissionMode' | 'settings'> {
  words: Promise<AgentWords>;
  /** The UUID of the session. */
  id: string;
  workspaceId?: string;
  /** Variables of the session in addition to those of its kind. */
  env: Record<string, string>;
  files: SessionSpec['files'];
  /** The part of a repository. */
  around?: {
    spec: Pick<SessionSpec, 'borrowed' | 'prepare' | 'startsIn'>;
    otherFiles: NonNullable<SessionSpec['otherFiles']>;
    services: NonNullable<SessionSpec['services']>;
  };
  secrets: string[];
  network: Network | undefined;
  allowedHosts?: SessionSpec['allowedHosts'];
  credentials?: SessionSpec['credentials'];
  limits?: SessionSpec['limits'];
  /** The run's token, with which the agent asks for models. */
  token: string;
}

/** The decisions and reports of the session's requests to models. */
export type ModelGate = Pick<
  ModelProxyOptions,
  'access' | 'admit' | 'ended' | 'limited' | 'replaced'
>;

export interface AgentSessionParts {
  driver: RuntimeDriver;
  gate: ModelGate;
  /** Gets each event of the agent, with its secrets. It cannot wait. A failure of it ends the session. */
  onEvent: (event: AgentEvent) => void;
}

/** The end of an agent's session. */
export interface AgentSessionEnd {
  end: AgentEnd;
  exit: SessionExit;
}

/** Longer lines of an agent are cut: no message of a protocol has so many characters. */
const MAX_LINE = 8 * 1024 * 1024;
/** The port of the model proxy within a sandbox. */
const MODEL_PORT = 6173;
/** The time for an agent to end itself once it has no more input. */
const END_MS = 10_000;
/** The share of a grace period in which an interrupted agent can end its turn by itself. */
const OWN_SHARE = 0.5;
/** The maximum of the reason of a broken conversation, in characters. */
const MAX_WHY = 500;

/**
 * A session of a coding agent: its program in a session of the driver, its way to models, and the
 * conversation with it.
 */
export class AgentSession {
  /** Resolves when no process of it is left and all usage is reported. Never rejects. */
  readonly exit: Promise<AgentSessionEnd>;

  private constructor(
    private readonly session: RuntimeSession,
    private readonly talk: Talk,
    private readonly release: () => Promise<void>,
  ) {
    this.exit = this.follow();
  }

  /** @throws SpawnError, and the error of the words */
  static async start(work: AgentWork, parts: AgentSessionParts): Promise<AgentSession> {
    const { driver, gate, onEvent } = parts;
    const { id, network, allowedHosts } = work;
    const asked = { network, allowedHosts };
    // A door that fails earlier does not wait for them.
    work.words.catch(() => undefined);
    const around = driver.surroundings(id, asked, work.env['DROVER_API_URL']);
    const door = await openDoor(around.reach.network, { token: work.token, ...gate });
    try {
      const talk = new Talk(onEvent);
      const session = await driver.spawn({
        id,
        workspaceId: work.workspaceId,
        command: work.words.then((words) => {
          const { servers, missing } = serversOfSession(words.mcpServers, around);
          for (const text of missing) onEvent({ type: 'notice', level: 'warning', text });
          const context = contextOf(work, { ...words, mcpServers: servers }, around, door.url);
          talk.open(work.kind, context);
          return partsOf(work, words, { context, folder: around.folder });
        }),
        env: work.env,
        files: work.files,
        otherFiles: work.around?.otherFiles,
        shown: work.folders,
        samePath: true,
        stdin: OPEN_INPUT,
        ...asked,
        credentials: work.credentials,
        services: [...door.services, ...(work.around?.services ?? [])],
        ...work.around?.spec,
        limits: { ...enoughMemory(work.kind, around), ...work.limits },
        secrets: work.secrets,
        output: talk,
      });
      talk.begin(session);
      return new AgentSession(session, talk, door.close);
    } catch (error) {
      await door.close();
      throw error;
    }
  }

  /** Ends the turn, and then the session. After `graceMs` it is killed. */
  stop(graceMs: number): void {
    this.talk.with((conversation) => {
      conversation.interrupt();
      conversation.finish();
    });
    const ownMs = graceMs * OWN_SHARE;
    const timer = setTimeout(() => this.session.stop(graceMs - ownMs), ownMs);
    void this.session.exit.then(() => clearTimeout(timer));
  }

  /** The session ends after the current turn, if that is wanted. */
  pauseAfterTurn(isWanted: boolean): void {
    this.talk.with((conversation) => conversation.pauseAfterTurn(isWanted));
  }

  notify(signal: SessionSignal): void {
    this.session.notify(signal);
  }

  /** Words of a person. An event `heard` names their id when the program has them. */
  say(...words: Parameters<Conversation['say']>): void {
    this.talk.with((conversation) => conversation.say(...words));
  }

  /** Adds files to the folder of the session. @throws Error as `RuntimeSession.addFiles` does */
  addFiles(files: readonly AddedFile[]): Promise<void> {
    return this.session.addFiles(files);
  }

  /** @param why the reason of a denial, for the agent */
  decide(permissionId: string, decision: 'allow' | 'deny', why?: string): void {
    this.talk.with((conversation) => conversation.decide(permissionId, decision, why));
  }

  private async follow(): Promise<AgentSessionEnd> {
    const exit = await this.session.exit;
    const end = await this.talk.ended(exit);
    await this.release();
    return { end, exit };
  }
}

/**
 * The lines of the program on their way into the conversation, and back. A program can write what
 * breaks its reader. That ends its own session alone, since an exception would end the process.
 */
class Talk implements OutputSink {
  private conversation!: Conversation;
  /** The end of a session whose conversation broke. */
  private broken: AgentEnd | undefined;
  private session: RuntimeSession | undefined;
  /** What the program wrote before its session was known. */
  private early: (() => void)[] | undefined = [];
  private readonly splitters = {
    stdout: new LineSplitter(MAX_LINE, (line) => this.conversation.line(line)),
    stderr: new LineSplitter(MAX_LINE, (line) => this.conversation.errorLine(line)),
  };

  constructor(private readonly onEvent: (event: AgentEvent) => void) {}

  /** Call it before the program starts. */
  open(kind: AgentKind, context: AgentContext): void {
    this.conversation = kind.converse(
      {
        write: (text) => this.session?.write(text),
        endInput: () => this.endInput(),
        emit: (event) => this.guard(() => this.onEvent(event)),
      },
      context,
    );
  }

  begin(session: RuntimeSession): void {
    this.session = session;
    this.with((conversation) => conversation.start());
    const early = this.early ?? [];
    this.early = undefined;
    for (const take of early) take();
  }

  write(stream: 'stdout' | 'stderr', chunk: Buffer): void {
    this.take(() => this.splitters[stream].write(chunk));
  }

  note(text: string): void {
    this.take(() => this.onEvent({ type: 'notice', level: 'warning', text }));
  }

  end(): void {
    this.take(() => {
      for (const splitter of Object.values(this.splitters)) splitter.end();
    });
  }

  /** Does something with a conversation that is not broken. */
  with(act: (conversation: Conversation) => void): void {
    this.guard(() => act(this.conversation));
  }

  /** Never rejects. */
  async ended(exit: SessionExit): Promise<AgentEnd> {
    const end = this.conversation.ended(exit).catch((error: unknown) => brokenBy(error));
    return this.broken ?? (await end);
  }

  private take(take: () => void): void {
    if (this.early === undefined) this.guard(take);
    else this.early.push(() => this.guard(take));
  }

  private guard(act: () => void): void {
    if (this.broken !== undefined) return;
    try {
      act();
    } catch (error) {
      this.broken = brokenBy(error);
      this.session?.stop(END_MS);
    }
  }

  private endInput(): void {
    const { session } = this;
    if (session === undefined) return;
    session.endInput();
    const timer = setTimeout(() => session.stop(END_MS), END_MS);
    void session.exit.then(() => clearTimeout(timer));
  }
}

function brokenBy(error: unknown): AgentEnd {
  const why = error instanceof Error ? error.message : String(error);
  const message = `The agent wrote what Drover cannot read: ${why}`.slice(0, MAX_WHY);
  return { kind: 'failed', class: 'crash', message, retryable: true };
}

interface Door {
  /** The address of the model proxy for the agent. */
  url: string;
  services: NonNullable<SessionSpec['services']>;
  close: () => Promise<void>;
}

/** Opens the model proxy where the session can reach it. */
async function openDoor(
  network: Network,
  options: Omit<ModelProxyOptions, 'listen'>,
): Promise<Door> {
  if (network === 'host') {
    const proxy = await ModelProxy.open({ ...options, listen: 'loopback' });
    return { url: proxy.url, services: [], close: () => proxy.close() };
  }
  // Only this process can enter the folder; the sandbox gets the socket itself.
  const folder = await makeOwnedTemporary('models');
  const socket = join(folder, 'socket');
  const proxy = await ModelProxy.open({ ...options, listen: { socket } });
  return {
    url: `http://127.0.0.1:${MODEL_PORT}`,
    services: [{ port: MODEL_PORT, socket }],
    close: async () => {
      await proxy.close();
      await removeTree(folder);
    },
  };
}

function contextOf(
  work: AgentWork,
  words: AgentWords,
  { folder, isRoot, apiUrl }: Surroundings,
  modelUrl: string,
): AgentContext {
  const { model, permissionMode, settings, program } = work;
  const { prompt, images, instructions, resume } = words;
  const { startsIn = '' } = work.around?.spec ?? {};
  return {
    prompt,
    images,
    resume,
    model,
    permissionMode,
    settings,
    instructions,
    mcpServers: [...droverTools(apiUrl, work.token), ...words.mcpServers],
    program,
    workDir: join(folder, 'work', startsIn),
    stateDir: join(folder, 'state'),
    sessionId: work.id,
    modelProxy: { url: modelUrl, token: work.token },
    isRoot,
  };
}

/** @throws SpawnError for settings that the kind refuses */
function partsOf(
  { kind, around }: AgentWork,
  { takenOver = [] }: AgentWords,
  { context, folder }: { context: AgentContext; folder: string },
): LateParts {
  const { command, env, files } = launchOf(kind, context);
  // The files of a repository come with it.
  const kept = takenOver.filter(({ name }) => !around || !name.startsWith('work/'));
  const own = files.map(({ path, content }) => ({ name: relative(folder, path), content }));
  return { command, env, otherFiles: [...kept, ...own] };
}

/** The server of Drover's tools, which have the rights of the run. */
function droverTools(apiUrl: string | undefined, token: string): McpServer[] {
  if (apiUrl === undefined) return [];
  const url = `${apiUrl.replace(/\/api\/v1\/?$/, '')}/mcp?hosted=true`;
  const headers = { Authorization: `Bearer ${token}` };
  return [{ name: 'drover', isTrusted: true, url, headers }];
}

/** A program of the kind would crash with less. The task can ask for other limits. */
function enoughMemory({ minMemoryMb }: AgentKind, { memoryMb }: Surroundings) {
  return memoryMb !== 0 && memoryMb < minMemoryMb ? { memoryMb: minMemoryMb } : {};
}

function launchOf(kind: AgentKind, context: AgentContext) {
  try {
    return kind.launch(context);
  } catch (error) {
    if (error instanceof KindSettingsError) throw new SpawnError('setup', error.message);
    throw error;
  }
}
