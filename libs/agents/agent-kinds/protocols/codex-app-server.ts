import type { AgentEnd, FailureClass } from '../domain/agent-end.js';
import type { PermissionRequest } from '../domain/agent-event.js';
import type {
  AgentContext,
  AgentExit,
  AgentImage,
  AgentIo,
  Conversation,
} from '../domain/agent-kind.js';
import { classOfMessage, classOfStatus } from '../domain/failures.js';
import { eventsOfEnd, eventsOfStart, pathsOf, toDiff } from './codex-items.js';
import { Ending } from './ending.js';
import { type JsonObject, objectOf, objectsOf, parseLine, textOf, toObject } from './json-lines.js';
import { scriptOf } from './shell-words.js';
import { subjectsOf } from './subjects.js';
import { Turns } from './turns.js';

/** What differs between the permission modes. Codex' own sandbox cannot nest in Drover's. */
const APPROVALS = { auto: 'never', ask: 'untrusted', plan: 'untrusted', 'read-only': 'untrusted' };

type Answer = (result: JsonObject, error: JsonObject | undefined) => void;

/** The result that answers a request for a permission. */
type ToResult = (isAllowed: boolean) => JsonObject;

const toDecision: ToResult = (isAllowed) => ({ decision: isAllowed ? 'accept' : 'decline' });
const toElicitation: ToResult = (isAllowed) => ({
  action: isAllowed ? 'accept' : 'decline',
  content: isAllowed ? {} : null,
  _meta: null,
});

/**
 * A conversation with `codex app-server`: JSON-RPC in lines, in both directions, without the member
 * `jsonrpc`.
 */
export class CodexConversation implements Conversation {
  private readonly ending = new Ending();
  private readonly turns: Turns;
  private readonly answers = new Map<number, Answer>();
  /** Requests for a permission, by their id as text. */
  private readonly asked = new Map<string, { id: unknown; toResult: ToResult }>();
  private readonly files = new Map<string, JsonObject>();
  private lastRequest = 0;
  private threadId = '';
  private model = '';
  private turnId?: string;
  private isInterruptDue = false;

  constructor(
    private readonly io: AgentIo,
    private readonly context: AgentContext,
  ) {
    const commands = {
      begin: (words: string, images: readonly AgentImage[]) => this.begin(words, images),
      interrupt: () => this.interruptTurn(),
    };
    this.turns = new Turns(io, commands, context);
  }

  start(): void {
    const clientInfo = { name: 'drover', title: 'Drover', version: '1' };
    const capabilities = { experimentalApi: true, requestAttestation: false };
    this.request('initialize', { clientInfo, capabilities }, (_result, error) => {
      if (error !== undefined) return this.cannotBegin('setup', error);
      this.send({ method: 'initialized' });
      this.openThread();
    });
  }

  line(text: string): void {
    const message = parseLine(text);
    if (message === undefined) return this.errorLine(text);
    const { id, method } = message;
    if (typeof method !== 'string') return this.takeAnswer(message);
    const params = objectOf(message.params);
    if (id === undefined) this.takeNotification(method, params);
    else this.takeRequest(id, method, params);
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
    const asked = this.asked.get(permissionId);
    if (asked === undefined) return;
    this.asked.delete(permissionId);
    this.send({ id: asked.id, result: asked.toResult(decision === 'allow') });
  }

  finish(): void {
    this.turns.finish();
  }

  pauseAfterTurn(isWanted: boolean): void {
    this.turns.pauseAfterTurn(isWanted);
  }

  ended(exit: AgentExit): Promise<AgentEnd> {
    return Promise.resolve(this.ending.of(exit, this.turns));
  }

  private openThread(): void {
    const { resume, workDir, permissionMode } = this.context;
    const common = {
      cwd: workDir,
      approvalPolicy: APPROVALS[permissionMode],
      sandbox: 'danger-full-access',
    };
    const [method, params] =
      resume === undefined
        ? ['thread/start', common]
        : ['thread/resume', { ...common, threadId: resume }];
    this.request(method, params, (result, error) => {
      if (error !== undefined) {
        const isMissing = resume !== undefined && /rollout|thread/i.test(textOf(error.message));
        return this.cannotBegin(isMissing ? 'no_conversation' : 'setup', error);
      }
      this.threadId = textOf(objectOf(result.thread).id);
      this.model = textOf(result.model);
      this.ending.hasSession = true;
      this.io.emit({ type: 'session', id: this.threadId, model: this.model });
      this.turns.ready();
    });
  }

  private begin(words: string, images: readonly AgentImage[]): void {
    const input = [{ type: 'text', text: words, text_elements: [] }, ...images.map(toImage)];
    const settings = { model: this.model, reasoning_effort: null, developer_instructions: null };
    const mode = this.context.permissionMode === 'plan' ? 'plan' : 'default';
    const collaborationMode = { mode, settings };
    const params = { threadId: this.threadId, input, collaborationMode };
    this.turnId = undefined;
    this.isInterruptDue = false;
    this.request('turn/start', params, (result, error) => {
      if (error !== undefined) return this.turnFailed(textOf(error.message), undefined);
      this.turnId = textOf(objectOf(result.turn).id);
      if (this.isInterruptDue) this.interruptTurn();
    });
  }

  private interruptTurn(): void {
    this.isInterruptDue = this.turnId === undefined;
    if (this.turnId === undefined) return;
    this.request('turn/interrupt', { threadId: this.threadId, turnId: this.turnId }, () => {});
  }

  private takeAnswer({ id, result, error }: JsonObject): void {
    const answer = this.answers.get(id as number);
    this.answers.delete(id as number);
    answer?.(objectOf(result), toObject(error));
  }

  private takeRequest(id: unknown, method: string, params: JsonObject): void {
    if (method === 'item/commandExecution/requestApproval') {
      const { command, cwd, reason } = params;
      const title = textOf(command) || textOf(reason);
      const subjects = [scriptOf(title)];
      const input = { command, cwd, reason };
      return this.ask(id, { tool: 'shell', category: 'shell', title, subjects, input });
    }
    if (method === 'item/fileChange/requestApproval') {
      const item = objectOf(this.files.get(textOf(params.itemId)));
      const changes = objectsOf(item.changes);
      const title = changes.map(({ path }) => textOf(path)).join(', ');
      const subjects = subjectsOf(pathsOf(changes), title, this.context.workDir);
      const what = { title, subjects, input: { changes }, diffs: changes.map(toDiff) };
      return this.ask(id, { tool: 'apply_patch', category: 'edit', ...what });
    }
    if (method === 'mcpServer/elicitation/request') return this.takeElicitation(id, params);
    if (method === 'item/tool/requestUserInput') return this.send({ id, result: { answers: {} } });
    if (method === 'item/permissions/requestApproval') {
      return this.send({ id, result: { permissions: {}, scope: 'turn' } });
    }
    this.send({ id, error: { code: -32601, message: `Drover does not know ${method}` } });
  }

  /** Codex asks for the tools of MCP servers in this form. Nobody answers other questions of servers. */
  private takeElicitation(id: unknown, { serverName, message, _meta: meta }: JsonObject): void {
    const { codex_approval_kind: kind, tool_name: name, tool_params: input } = objectOf(meta);
    if (kind !== 'mcp_tool_call') return this.send({ id, result: toElicitation(false) });
    const tool = `mcp__${textOf(serverName)}__${textOf(name)}`;
    const title = textOf(message) || tool;
    const permission = { tool, category: 'other' as const, title, subjects: [title], input };
    this.ask(id, permission, toElicitation);
  }

  private ask(
    id: unknown,
    permission: Omit<PermissionRequest, 'id'>,
    toResult: ToResult = toDecision,
  ): void {
    const { permissionMode } = this.context;
    if (permissionMode !== 'ask') {
      return this.send({ id, result: toResult(permissionMode === 'auto') });
    }
    const permissionId = String(id);
    this.asked.set(permissionId, { id, toResult });
    this.io.emit({ type: 'permission', id: permissionId, ...permission });
  }

  private takeNotification(method: string, params: JsonObject): void {
    // Threads of sub-agents have their own ids. Their work is told by the items of this thread.
    if (params.threadId !== undefined && params.threadId !== this.threadId) return;
    const item = objectOf(params.item);
    switch (method) {
      case 'item/started':
        if (item.type === 'fileChange') this.files.set(textOf(item.id), item);
        return this.emitAll(eventsOfStart(item));
      case 'item/completed':
        this.files.delete(textOf(item.id));
        if (item.type === 'agentMessage' || item.type === 'plan') {
          this.ending.summary = textOf(item.text);
        }
        return this.emitAll(eventsOfEnd(item));
      case 'item/agentMessage/delta':
        return this.io.emit({ type: 'message', text: textOf(params.delta), delta: true });
      case 'item/reasoning/textDelta':
      case 'item/reasoning/summaryTextDelta':
        return this.io.emit({ type: 'thought', text: textOf(params.delta), delta: true });
      case 'turn/plan/updated':
        return this.io.emit({ type: 'plan', entries: objectsOf(params.plan).map(toEntry) });
      case 'turn/completed':
        return this.takeTurnEnd(objectOf(params.turn));
      case 'mcpServer/startupStatus/updated':
        return params.status === 'failed' ? this.tellFailure(params) : undefined;
      case 'serverRequest/resolved':
        return this.closePermission(String(params.requestId));
      case 'error':
        return this.notify('warning', objectOf(params.error).message);
      case 'warning':
        return this.notify('info', params.message);
      case 'configWarning': {
        // Its own sandbox is off.
        const isAboutSandbox = /bubblewrap/i.test(textOf(params.summary));
        return isAboutSandbox ? undefined : this.notify('warning', params.summary);
      }
    }
  }

  private takeTurnEnd({ id, status, error }: JsonObject): void {
    if (this.turnId !== undefined && id !== this.turnId) return;
    for (const permissionId of this.asked.keys()) this.closePermission(permissionId);
    this.turnId = undefined;
    if (status === 'completed' || status === 'interrupted') return this.turns.turnEnded(status);
    const { message, codexErrorInfo } = objectOf(error);
    this.turnFailed(textOf(message), codexErrorInfo);
  }

  private turnFailed(message: string, info: unknown): void {
    this.ending.fails(classOf(info) ?? classOfMessage(message) ?? 'provider', message);
    this.turns.turnEnded('failed');
  }

  private cannotBegin(failureClass: FailureClass, error: JsonObject): void {
    this.ending.fails(failureClass, textOf(error.message));
    this.turns.close();
  }

  private tellFailure({ name, error }: JsonObject): void {
    this.notify('warning', `The MCP server ${textOf(name)} does not work: ${textOf(error)}`);
  }

  private closePermission(id: string): void {
    if (this.asked.delete(id)) this.io.emit({ type: 'permission_closed', id });
  }

  private notify(level: 'info' | 'warning', text: unknown): void {
    if (textOf(text) !== '') this.io.emit({ type: 'notice', level, text: textOf(text) });
  }

  private emitAll(events: Parameters<AgentIo['emit']>[0][]): void {
    for (const event of events) this.io.emit(event);
  }

  private request(method: string, params: JsonObject, answer: Answer): void {
    const id = (this.lastRequest += 1);
    this.answers.set(id, answer);
    this.send({ id, method, params });
  }

  private send(message: JsonObject): void {
    this.io.write(`${JSON.stringify(message)}\n`);
  }
}

function toImage({ path, mediaType, content }: AgentImage) {
  if (path !== undefined) return { type: 'localImage', path };
  return {
    type: 'image',
    url: `data:${mediaType};base64,${Buffer.from(content).toString('base64')}`,
  };
}

const CLASSES: Record<string, FailureClass> = {
  contextWindowExceeded: 'context_full',
  usageLimitExceeded: 'rate_limited',
  rateLimitExceeded: 'rate_limited',
  sessionBudgetExceeded: 'denied',
  unauthorized: 'denied',
  cyberPolicy: 'refused',
  misalignmentPolicyViolation: 'refused',
  modelNotFound: 'setup',
};

/** Codex' own class of a failure, which is a word or an object with the provider's status. */
function classOf(info: unknown): FailureClass | undefined {
  if (typeof info === 'string') return CLASSES[info];
  const [details] = Object.values(objectOf(info));
  const status = objectOf(details).httpStatusCode;
  return typeof status === 'number' ? classOfStatus(status) : undefined;
}

function toEntry({ step, status }: JsonObject) {
  const states = { inProgress: 'in_progress', completed: 'completed' } as const;
  return {
    text: textOf(step),
    status: states[textOf(status) as keyof typeof states] ?? 'pending',
  } as const;
}
