import type {
  PermissionOption,
  RequestPermissionResponse,
  SessionUpdate,
  ToolCallUpdate,
} from '@agentclientprotocol/sdk';
import type {
  AgentEvent,
  FileDiff,
  PermissionRequest,
  ToolCategory,
} from '../domain/agent-event.js';
import { diffOf } from './diff.js';
import { objectOf, textOf } from './json-lines.js';
import { subjectsOf } from './subjects.js';

/** The number of open calls whose details are kept. */
const MAX_OPEN = 100;
/** The number of calls that are known. A later update of an older one is a new call. */
const MAX_CALLS = 1_000;

interface KnownCall {
  title: string;
  isDone: boolean;
}

/** Turns the updates of one session into events. Its pieces of messages become whole ones. */
export class AcpUpdates {
  /** The last whole message. */
  lastMessage?: string;

  private readonly calls = new Map<string, KnownCall>();
  /** The details of open calls. Later updates and requests repeat only those that change. */
  private readonly open = new Map<string, ToolCallUpdate>();
  private text: { type: 'message' | 'thought'; id?: string | null; text: string } | undefined;

  /** @param isNoise tells the messages that the program writes about itself */
  constructor(
    private readonly emit: (event: AgentEvent) => void,
    private readonly isNoise: (text: string) => boolean,
  ) {}

  take(update: SessionUpdate): void {
    switch (update.sessionUpdate) {
      case 'agent_message_chunk':
      case 'agent_thought_chunk': {
        const { content, messageId } = update;
        if (content.type !== 'text' || content.text === '' || this.isNoise(content.text)) return;
        const type = update.sessionUpdate === 'agent_message_chunk' ? 'message' : 'thought';
        return this.takePiece(type, messageId, content.text);
      }
      case 'tool_call':
      case 'tool_call_update':
        this.flush();
        return this.takeCall(update);
      case 'plan': {
        this.flush();
        const entries = update.entries.map(({ content, status }) => ({ text: content, status }));
        return this.emit({ type: 'plan', entries });
      }
      default:
        // Other updates tell nothing about the work, or tokens, which the model proxy counts.
        return undefined;
    }
  }

  /** Emits the whole message or thought of the pieces so far. */
  flush(): void {
    const { text } = this;
    this.text = undefined;
    if (text === undefined) return;
    if (text.type === 'message') this.lastMessage = text.text;
    this.emit({ type: text.type, text: text.text, delta: false });
  }

  /**
   * Makes a call known by the request for its permission.
   *
   * @returns the call with its details from earlier updates
   */
  takeRequest(call: ToolCallUpdate): ToolCallUpdate {
    const whole = this.withEarlier(call);
    this.takeCall({ ...call, status: null, content: null });
    return whole;
  }

  private withEarlier(call: ToolCallUpdate): ToolCallUpdate {
    const known = this.open.get(call.toolCallId);
    return {
      toolCallId: call.toolCallId,
      title: call.title ?? known?.title,
      kind: call.kind ?? known?.kind,
      rawInput: call.rawInput ?? known?.rawInput,
      locations: call.locations ?? known?.locations,
      content: call.content ?? known?.content,
    };
  }

  private remember(call: ToolCallUpdate): void {
    const whole = this.withEarlier(call);
    this.open.delete(call.toolCallId);
    if (call.status === 'completed' || call.status === 'failed') return;
    this.open.set(call.toolCallId, whole);
    const [oldest] = this.open.keys();
    if (this.open.size > MAX_OPEN && oldest !== undefined) this.open.delete(oldest);
  }

  private takeCall(call: ToolCallUpdate): void {
    this.remember(call);
    const { toolCallId: id, kind, rawInput, status } = call;
    const known = this.calls.get(id);
    const title = call.title ?? known?.title ?? kind ?? 'tool';
    const isNew = known === undefined || (rawInput !== undefined && known.title !== title);
    const isDone = known?.isDone === true || status === 'completed' || status === 'failed';
    this.know(id, { title, isDone });
    if (isNew && known?.isDone !== true) {
      const name = kind ?? 'other';
      this.emit({ type: 'tool_call', id, name, title, input: rawInput ?? {} });
    }
    if (!isDone || known?.isDone === true) return;
    const diffs = diffsIn(call);
    const output = outputOf(call);
    const ok = status === 'completed';
    this.emit({ type: 'tool_result', id, ok, output, ...(diffs.length > 0 ? { diffs } : {}) });
  }

  /** The calls with the latest updates stay known. */
  private know(id: string, call: KnownCall): void {
    this.calls.delete(id);
    this.calls.set(id, call);
    const [oldest] = this.calls.keys();
    if (this.calls.size > MAX_CALLS && oldest !== undefined) this.calls.delete(oldest);
  }

  private takePiece(type: 'message' | 'thought', id: string | null | undefined, piece: string) {
    const { text } = this;
    if (text !== undefined && (text.type !== type || text.id !== id)) this.flush();
    this.text ??= { type, id, text: '' };
    this.text.text += piece;
    this.emit({ type, text: piece, delta: true });
  }
}

/** The answer to a request for a permission, by the option that means the decision once. */
export function answerTo(
  options: readonly PermissionOption[],
  decision: 'allow' | 'deny' | 'cancel',
): RequestPermissionResponse {
  const kinds =
    decision === 'allow' ? ['allow_once', 'allow_always'] : ['reject_once', 'reject_always'];
  const found = kinds.map((kind) => options.find((option) => option.kind === kind));
  const option = found.find((each) => each !== undefined);
  if (decision === 'cancel' || option === undefined) return { outcome: { outcome: 'cancelled' } };
  return { outcome: { outcome: 'selected', optionId: option.optionId } };
}

const CATEGORIES: Record<string, ToolCategory> = {
  execute: 'shell',
  edit: 'edit',
  delete: 'edit',
  move: 'edit',
  read: 'read',
  search: 'read',
  fetch: 'read',
  think: 'read',
};

export function categoryOf({ kind }: ToolCallUpdate): ToolCategory {
  return CATEGORIES[kind ?? ''] ?? 'other';
}

/** The tool of a request for a permission. `call` has its details from earlier updates. */
export function permissionOf(call: ToolCallUpdate, workDir: string): Omit<PermissionRequest, 'id'> {
  const tool = call.kind ?? 'other';
  const title = call.title ?? tool;
  const category = categoryOf(call);
  const diffs = diffsIn(call);
  const paths = [...(call.locations ?? []), ...diffs].map(({ path }) => path);
  const command = textOf(objectOf(call.rawInput).command);
  const subjects = category === 'shell' ? [command || title] : subjectsOf(paths, title, workDir);
  return {
    tool,
    category,
    title,
    subjects,
    input: call.rawInput ?? call.content ?? {},
    ...((call.kind ?? null) === null ? { isUnknown: true } : {}),
    ...(diffs.length > 0 ? { diffs } : {}),
  };
}

function diffsIn({ content }: ToolCallUpdate): FileDiff[] {
  return (content ?? []).flatMap((item) =>
    item.type === 'diff'
      ? [{ path: item.path, diff: diffOf(item.oldText ?? '', item.newText) }]
      : [],
  );
}

function outputOf({ content, rawOutput }: ToolCallUpdate): string {
  const texts = (content ?? []).flatMap((item) =>
    item.type === 'content' && item.content.type === 'text' ? [item.content.text] : [],
  );
  if (texts.length > 0) return texts.join('\n');
  if (rawOutput === undefined || rawOutput === null) return '';
  return typeof rawOutput === 'string' ? rawOutput : JSON.stringify(rawOutput);
}
