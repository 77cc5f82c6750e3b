import type { AgentEnd, FailureClass } from '../domain/agent-end.js';
import type {
  AgentContext,
  AgentExit,
  AgentImage,
  AgentIo,
  Conversation,
} from '../domain/agent-kind.js';
import { classOfMessage, classOfStatus } from '../domain/failures.js';
import { eventsOfAssistant, eventsOfPiece, eventsOfUser, permissionOf } from './claude-lines.js';
import { Ending } from './ending.js';
import { type JsonObject, objectOf, objectsOf, parseLine, textOf } from './json-lines.js';
import { Turns } from './turns.js';

/** Tools that only ask a person something, or end a plan. */
const NO_PERMISSION_FOR: Record<string, string> = {
  ExitPlanMode: 'The plan is complete. End your turn with it; nobody executes it in this session.',
  AskUserQuestion: 'Nobody can answer here. Decide yourself, and say what you decided.',
};

/** A conversation with Claude Code's `stream-json`, in both directions. */
export class ClaudeConversation implements Conversation {
  private readonly ending = new Ending();
  private readonly turns: Turns;
  /** The input of each tool that waits for a permission, by the id of its request. */
  private readonly asked = new Map<string, unknown>();
  private lastRequest = 0;
  private isInterrupted = false;

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
    this.turns.ready();
  }

  line(text: string): void {
    const message = parseLine(text);
    if (message === undefined) return this.errorLine(text);
    // Lines of sub-agents tell of work that the tool's own call and result enclose.
    const isOwn = (message.parent_tool_use_id ?? null) === null;
    switch (message.type) {
      case 'system':
        return this.takeSystem(message);
      case 'stream_event':
        return isOwn ? this.emitAll(eventsOfPiece(objectOf(message.event))) : undefined;
      case 'assistant':
        return isOwn ? this.takeAssistant(message) : undefined;
      case 'user':
        if (!isOwn) return undefined;
        return this.emitAll(eventsOfUser(objectOf(message.message), message.tool_use_result));
      case 'result':
        return this.takeResult(message);
      case 'control_request':
        return this.takeRequest(textOf(message.request_id), objectOf(message.request));
      case 'control_cancel_request':
        return this.closePermission(textOf(message.request_id));
    }
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

  decide(permissionId: string, decision: 'allow' | 'deny', why?: string): void {
    if (!this.asked.has(permissionId)) return;
    const updatedInput = this.asked.get(permissionId);
    this.asked.delete(permissionId);
    if (decision === 'allow') this.answer(permissionId, { behavior: 'allow', updatedInput });
    else this.answer(permissionId, { behavior: 'deny', message: why ?? 'A person denied this.' });
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

  private begin(words: string, images: readonly AgentImage[]): void {
    this.isInterrupted = false;
    const content = [...images.map(toImage), { type: 'text', text: words }];
    this.send({ type: 'user', message: { role: 'user', content } });
  }

  private interruptTurn(): void {
    this.isInterrupted = true;
    const request_id = `drover-${(this.lastRequest += 1)}`;
    this.send({ type: 'control_request', request_id, request: { subtype: 'interrupt' } });
  }

  private takeSystem(message: JsonObject): void {
    if (message.subtype === 'init') {
      if (!this.ending.hasSession) this.tellFailures(objectsOf(message.mcp_servers));
      this.ending.hasSession = true;
      const id = textOf(message.session_id);
      return this.io.emit({ type: 'session', id, model: textOf(message.model) });
    }
    if (message.subtype === 'api_retry') {
      const text = `The model's provider failed (${textOf(message.error)}). The agent tries again.`;
      return this.io.emit({ type: 'notice', level: 'warning', text });
    }
    if (message.subtype === 'compact_boundary') {
      this.io.emit({ type: 'notice', level: 'info', text: 'The conversation was shortened.' });
    }
  }

  private tellFailures(servers: JsonObject[]): void {
    for (const { name } of servers.filter(({ status }) => status === 'failed')) {
      const text = `The MCP server ${textOf(name)} does not work.`;
      this.io.emit({ type: 'notice', level: 'warning', text });
    }
  }

  private takeAssistant({ message, error }: JsonObject): void {
    const events = eventsOfAssistant(objectOf(message));
    for (const event of events) {
      // Messages about failures of the provider have the form of a message of the model.
      const isFailure = typeof error === 'string' && event.type === 'message';
      if (isFailure) this.io.emit({ type: 'notice', level: 'error', text: event.text });
      else this.io.emit(event);
      if (event.type === 'message' && !isFailure) this.ending.summary = event.text;
    }
  }

  private takeResult(message: JsonObject): void {
    for (const id of this.asked.keys()) this.closePermission(id);
    if (message.is_error !== true && message.subtype === 'success') {
      return this.turns.turnEnded('completed');
    }
    if (this.isInterrupted) return this.turns.turnEnded('interrupted');
    const { failureClass, text } = failureOf(message);
    this.ending.fails(failureClass, text);
    this.turns.turnEnded('failed');
  }

  private takeRequest(id: string, request: JsonObject): void {
    if (request.subtype !== 'can_use_tool') {
      const error = `Drover does not know ${textOf(request.subtype)}`;
      const response = { subtype: 'error', request_id: id, error };
      return this.send({ type: 'control_response', response });
    }
    const tool = textOf(request.tool_name);
    const { input } = request;
    const refusal = NO_PERMISSION_FOR[tool];
    if (refusal !== undefined) return this.answer(id, { behavior: 'deny', message: refusal });
    const isTrusted = this.context.mcpServers.some(
      (server) => server.isTrusted && tool.startsWith(`mcp__${server.name}__`),
    );
    if (isTrusted || this.context.permissionMode === 'auto') {
      return this.answer(id, { behavior: 'allow', updatedInput: input });
    }
    if (this.context.permissionMode !== 'ask') {
      return this.answer(id, { behavior: 'deny', message: 'This session cannot change anything.' });
    }
    this.asked.set(id, input);
    const title = textOf(request.title) || textOf(request.description) || tool;
    const what = permissionOf(tool, objectOf(input), { title, workDir: this.context.workDir });
    this.io.emit({ type: 'permission', id, tool, title, input, ...what });
  }

  private closePermission(id: string): void {
    if (this.asked.delete(id)) this.io.emit({ type: 'permission_closed', id });
  }

  private answer(id: string, response: JsonObject): void {
    const success = { subtype: 'success', request_id: id, response };
    this.send({ type: 'control_response', response: success });
  }

  private emitAll(events: Parameters<AgentIo['emit']>[0][]): void {
    for (const event of events) this.io.emit(event);
  }

  private send(message: JsonObject): void {
    this.io.write(`${JSON.stringify(message)}\n`);
  }
}

function toImage({ mediaType, content }: AgentImage) {
  const data = Buffer.from(content).toString('base64');
  return { type: 'image', source: { type: 'base64', media_type: mediaType, data } };
}

/** Reads a failed result. Its `subtype` can be `success`, and its text is the provider's. */
function failureOf(message: JsonObject): { failureClass: FailureClass; text: string } {
  const errors = Array.isArray(message.errors) ? message.errors.map(textOf).join('\n') : '';
  const text = textOf(message.result) || errors || textOf(message.subtype);
  return { failureClass: classOf(message, text), text };
}

function classOf(message: JsonObject, text: string): FailureClass {
  const { api_error_status, terminal_reason, subtype, stop_reason } = message;
  if (subtype === 'error_max_turns') return 'turn_limit';
  if (stop_reason === 'refusal') return 'refused';
  if (terminal_reason === 'prompt_too_long') return 'context_full';
  if (/no conversation found/i.test(text)) return 'no_conversation';
  const byStatus =
    typeof api_error_status === 'number' ? classOfStatus(api_error_status) : undefined;
  return byStatus ?? classOfMessage(text) ?? 'provider';
}
