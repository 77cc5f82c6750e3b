import type { AgentEnd, AgentEvent } from '#lib/agent-kinds';
import {
  type AgentWork,
  composeContinuation,
  composePrompt,
  type Handover,
} from '#lib/agent-sessions';
import type { Job } from '../execution/job.js';
import type { AgentLog } from './agent-log.js';
import type { Earlier } from './earlier-state.js';

/** What the last run left in the checkpoint. */
export interface Left extends Handover {
  /** The conversation is that of a finished task, which a person continues. */
  continues: boolean;
}

export interface BeginningParts {
  left: Left;
  earlier: Earlier;
  lines: AgentLog;
}

/** The first words and files of a run's sessions: in the earlier conversation, or in a new one. */
export class Beginning {
  private resume: string | undefined;
  private why: string | undefined;
  private hasTold = false;
  private hasWorked = false;

  constructor(
    private readonly task: Job['task'],
    private readonly parts: BeginningParts,
  ) {
    this.resume = parts.earlier.resume;
    this.why = parts.earlier.why;
  }

  /** The part of a session that depends on the earlier ones. */
  session(): Pick<AgentWork, 'prompt' | 'resume' | 'takenOver'> {
    const { earlier } = this.parts;
    const { resume } = this;
    const isOfWork = ({ name }: { name: string }) => name.startsWith('work/');
    const takenOver = resume === undefined ? earlier.files.filter(isOfWork) : earlier.files;
    if (resume === undefined) this.tellNew();
    return { prompt: this.prompt(), resume, takenOver };
  }

  heed({ type }: AgentEvent): void {
    if (type === 'session' && this.resume !== undefined && !this.hasTold) {
      this.hasTold = true;
      this.parts.lines.note('INFO', "Resumed the agent's conversation", 'agent_resumed');
    }
    this.hasWorked ||= type === 'message' || type === 'tool_call' || type === 'turn_ended';
  }

  /**
   * Whether the program ended because it cannot resume the conversation. A new one begins then: the next
   * session has other words.
   */
  isRefused(end: AgentEnd): boolean {
    if (this.resume === undefined || end.kind !== 'failed') return false;
    const isUnable = end.class === 'crash' || end.class === 'setup';
    if (end.class !== 'no_conversation' && (!isUnable || this.hasWorked)) return false;
    this.resume = undefined;
    this.why = `The agent cannot resume it: ${end.message}`;
    return true;
  }

  private prompt(): string {
    const { left, earlier } = this.parts;
    const { instructions } = this.task;
    const { transcript, ...rest } = left;
    const handover = { ...rest, lost: earlier.lost };
    const request =
      left.continues && typeof instructions === 'string' ? { request: instructions } : undefined;
    if (this.resume !== undefined) {
      return composeContinuation(this.task, {
        lost: earlier.lost,
        ...(earlier.isOfOtherTask && request),
      });
    }
    if (request === undefined) return composePrompt(this.task, { ...handover, transcript });
    return composeContinuation(this.task, { ...handover, transcript, ...request });
  }

  /** The first run of a task has nothing to go on with. */
  private tellNew(): void {
    const { left, earlier, lines } = this.parts;
    if (left.transcript === undefined && earlier.files.length === 0) return;
    const why = lines.redacted(this.why ?? '');
    const text = `Started a new conversation with a summary: ${why}`;
    lines.note('WARN', text, 'agent_restarted');
  }
}

/** The checkpoint and the conversation that the last run left. */
export function leftBy(checkpoint: unknown): Left {
  const { agent, ...rest } = (checkpoint ?? {}) as Record<string, unknown>;
  const { transcript, continues } = (agent ?? {}) as { transcript?: unknown; continues?: unknown };
  return {
    continues: continues === true,
    ...(Object.keys(rest).length > 0 && { checkpoint: rest }),
    ...(typeof transcript === 'string' && transcript !== '' && { transcript }),
  };
}
