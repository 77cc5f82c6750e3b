import {
  type AnyMessage,
  client,
  type ClientConnection,
  type InitializeResponse,
  type LoadSessionResponse,
  type NewSessionResponse,
  type PromptResponse,
  PROTOCOL_VERSION,
  RequestError,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type ResumeSessionResponse,
  type StopReason,
} from '@agentclientprotocol/sdk';
import type { AgentEnd, FailureClass } from '../domain/agent-end.js';
import type {
  AgentContext,
  AgentExit,
  AgentImage,
  AgentIo,
  Conversation,
  McpServer,
  PermissionMode,
} from '../domain/agent-kind.js';
import { classOfMessage } from '../domain/failures.js';
import { AcpUpdates, answerTo, categoryOf, permissionOf } from './acp-updates.js';
import { Ending } from './ending.js';
import { objectOf, parseLine, textOf } from './json-lines.js';
import { Turns } from './turns.js';

/** What differs between the programs that speak the protocol. */
export interface AcpDialect {
  /** The session mode to set for each permission mode. Without one, the program's own stays. */
  modes: Partial<Record<PermissionMode, string>>;
  /** Messages that the program writes about itself. */
  noise?: RegExp;
}

/** A conversation by the Agent Client Protocol, through its SDK. */
export class AcpConversation implements Conversation {
  private readonly ending = new Ending();
  private readonly turns: Turns;
  private readonly updates: AcpUpdates;
  private readonly connection: ClientConnection;
  private input!: ReadableStreamDefaultController<AnyMessage>;
  /** The requests for permissions that wait for a person. */
  private readonly asked = new Map<string, (decision: 'allow' | 'deny' | 'cancel') => void>();
  private lastPermission = 0;
  private sessionId = '';
  /** A resumed program repeats its conversation. The repetition makes no events. */
  private isReplay = true;
  private isClosed = false;
  private takesImages = false;

  constructor(
    private readonly io: AgentIo,
    private readonly context: AgentContext,
    private readonly dialect: AcpDialect,
  ) {
    const commands = {
      begin: (words: string, images: readonly AgentImage[]) => void this.begin(words, images),
      interrupt: () => this.interruptTurn(),
    };
    this.turns = new Turns(io, commands, context);
    this.updates = new AcpUpdates(
      (event) => io.emit(event),
      (text) => dialect.noise?.test(text) === true,
    );
    this.connection = this.connect();
  }

  start(): void {
    this.open().catch((error: unknown) => this.cannotBegin('setup', error));
  }

  line(text: string): void {
    const message = parseLine(text);
    if (message === undefined) this.errorLine(text);
    else if (!this.isClosed) this.input.enqueue(message as AnyMessage);
  }

  errorLine(text: string): void {
    this.ending.errorLine(text);
  }

  say(...words: Parameters<Conversation['say']>): void {
    this.turns.say(...words);
  }

  interrupt(): void {
    this.turns.interrupt();
  }

  decide(permissionId: string, decision: 'allow' | 'deny'): void {
    this.asked.get(permissionId)?.(decision);
    this.asked.delete(permissionId);
  }

  finish(): void {
    this.turns.finish();
  }

  pauseAfterTurn(isWanted: boolean): void {
    this.turns.pauseAfterTurn(isWanted);
  }

  async ended(exit: AgentExit): Promise<AgentEnd> {
    // The SDK reads the lines later than they arrive. It has read all when its input has ended.
    this.isClosed = true;
    this.input.close();
    await this.connection.closed;
    this.updates.flush();
    this.ending.summary = this.updates.lastMessage;
    return this.ending.of(exit, this.turns);
  }

  private connect(): ClientConnection {
    const readable = new ReadableStream<AnyMessage>({
      start: (controller) => void (this.input = controller),
    });
    const writable = new WritableStream<AnyMessage>({
      write: (message) => this.io.write(`${JSON.stringify(message)}\n`),
    });
    return client({ name: 'drover' })
      .onRequest('session/request_permission', ({ params }) => this.askPermission(params))
      .onNotification('session/update', ({ params }) => {
        if (!this.isReplay && params.sessionId === this.sessionId) this.updates.take(params.update);
      })
      .connect({ readable, writable });
  }

  private async open(): Promise<void> {
    const { agent } = this.connection;
    const initialized = await agent.request('initialize', {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
      clientInfo: { name: 'drover', version: '1' },
    });
    this.takesImages = initialized.agentCapabilities?.promptCapabilities?.image === true;
    const session = await this.openSession(initialized);
    if (session === undefined) return;
    this.ending.hasSession = true;
    this.io.emit({ type: 'session', id: this.sessionId, model: this.context.model });
    await this.setMode(session);
    this.turns.ready();
  }

  private async openSession({
    agentCapabilities,
  }: InitializeResponse): Promise<Partial<NewSessionResponse> | undefined> {
    const { agent } = this.connection;
    const { resume, workDir: cwd } = this.context;
    const params = { cwd, mcpServers: this.serversFor(agentCapabilities) };
    if (resume === undefined) {
      const session = await agent.request<NewSessionResponse>('session/new', params);
      this.sessionId = session.sessionId;
      return session;
    }
    this.sessionId = resume;
    const canResume = (agentCapabilities?.sessionCapabilities?.resume ?? null) !== null;
    try {
      const known = { ...params, sessionId: resume };
      if (canResume) return await agent.request<ResumeSessionResponse>('session/resume', known);
      return (await agent.request<LoadSessionResponse>('session/load', known)) ?? {};
    } catch (error) {
      this.cannotBegin('no_conversation', error);
      return undefined;
    }
  }

  /** Every program starts servers, and only programs that say so connect to servers over HTTP. */
  private serversFor(capabilities: InitializeResponse['agentCapabilities']) {
    const { mcpServers } = this.context;
    if (capabilities?.mcpCapabilities?.http === true) return mcpServers.map(toServer);
    const missing = mcpServers.filter((server) => 'url' in server).map(({ name }) => name);
    if (missing.length > 0) {
      const text = `The program takes no MCP servers over HTTP, so the agent has no tools of ${missing.join(', ')}.`;
      this.io.emit({ type: 'notice', level: 'warning', text });
    }
    return mcpServers.filter((server) => !('url' in server)).map(toServer);
  }

  /** Some programs have modes, others have an option with the modes as its values. */
  private async setMode({ modes, configOptions }: Partial<NewSessionResponse>): Promise<void> {
    const { agent } = this.connection;
    const { sessionId } = this;
    const wanted = this.dialect.modes[this.context.permissionMode];
    if (wanted === undefined) return;
    if (modes?.availableModes.some(({ id }) => id === wanted)) {
      if (modes.currentModeId === wanted) return;
      await agent.request('session/set_mode', { sessionId, modeId: wanted });
      return;
    }
    const option = configOptions?.find(({ category }) => category === 'mode');
    if (option === undefined || option.currentValue === wanted) return;
    const config = { sessionId, configId: option.id, value: wanted };
    await agent.request('session/set_config_option', config);
  }

  private async begin(words: string, images: readonly AgentImage[]): Promise<void> {
    this.isReplay = false;
    const prompt = [
      { type: 'text' as const, text: words },
      ...(this.takesImages ? images.map(toImage) : []),
    ];
    try {
      const { sessionId } = this;
      const { stopReason } = await this.connection.agent.request<PromptResponse>('session/prompt', {
        sessionId,
        prompt,
      });
      this.turnEnded(stopReason);
    } catch (error) {
      // Without an answer the program has ended in mid-turn, and its exit decides.
      if (!(error instanceof RequestError)) return;
      this.updates.flush();
      const message = messageOf(error);
      this.ending.fails(classOfMessage(message) ?? 'provider', message);
      this.turns.turnEnded('failed');
    }
  }

  private turnEnded(stopReason: StopReason): void {
    this.updates.flush();
    if (stopReason === 'end_turn') return this.turns.turnEnded('completed');
    if (stopReason === 'cancelled') return this.turns.turnEnded('interrupted');
    const [failureClass, message] = STOPS[stopReason];
    this.ending.fails(failureClass, message);
    this.turns.turnEnded('failed');
  }

  private interruptTurn(): void {
    for (const [id, answer] of this.asked) {
      answer('cancel');
      this.io.emit({ type: 'permission_closed', id });
    }
    this.asked.clear();
    void this.connection.agent.notify('session/cancel', { sessionId: this.sessionId });
  }

  private askPermission(
    request: RequestPermissionRequest,
  ): RequestPermissionResponse | Promise<RequestPermissionResponse> {
    const { options } = request;
    const { permissionMode } = this.context;
    this.updates.flush();
    const toolCall = this.updates.takeRequest(request.toolCall);
    if (permissionMode === 'auto') return answerTo(options, 'allow');
    if (permissionMode !== 'ask') {
      const isHarmless = categoryOf(toolCall) === 'read';
      return answerTo(options, isHarmless ? 'allow' : 'deny');
    }
    const id = `${(this.lastPermission += 1)}`;
    const decision = new Promise<'allow' | 'deny' | 'cancel'>((resolve) => {
      this.asked.set(id, resolve);
    });
    this.io.emit({ type: 'permission', id, ...permissionOf(toolCall, this.context.workDir) });
    return decision.then((decided) => answerTo(options, decided));
  }

  private cannotBegin(failureClass: FailureClass, error: unknown): void {
    // Without an answer the program has ended, and its exit and its error output decide.
    if (!(error instanceof RequestError)) return;
    const message = messageOf(error);
    const found = failureClass === 'setup' ? classOfMessage(message) : undefined;
    this.ending.fails(found ?? failureClass, message);
    this.turns.close();
  }
}

const STOPS: Record<Exclude<StopReason, 'end_turn' | 'cancelled'>, [FailureClass, string]> = {
  refusal: ['refused', 'The model refused to continue.'],
  max_tokens: ['context_full', 'The agent reached the limit of tokens.'],
  max_turn_requests: ['turn_limit', 'The agent reached its limit of model requests in one turn.'],
};

function toImage({ mediaType, content }: AgentImage) {
  const data = Buffer.from(content).toString('base64');
  return { type: 'image' as const, mimeType: mediaType, data };
}

function toServer(server: McpServer) {
  const { name } = server;
  if ('url' in server) {
    return { type: 'http' as const, name, url: server.url, headers: toPairs(server.headers) };
  }
  const { command, args, env } = server;
  return { name, command, args, env: toPairs(env) };
}

function toPairs(values: Record<string, string>) {
  return Object.entries(values).map(([name, value]) => ({ name, value }));
}

/** Programs put the provider's words into the data of an internal error. */
function messageOf(error: unknown): string {
  const { message, data } = objectOf(
    error instanceof Error ? { ...error, message: error.message } : error,
  );
  const details = textOf(data) || textOf(objectOf(data).details) || textOf(objectOf(data).message);
  if (details !== '') return details;
  return data === undefined || data === null
    ? textOf(message)
    : `${textOf(message)} ${JSON.stringify(data)}`;
}
