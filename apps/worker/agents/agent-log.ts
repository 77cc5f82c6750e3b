import type { AgentEvent } from '#lib/agent-kinds';
import { keepLine, type Redactor } from '#lib/session-runtime';
import type { EntryLevel } from '../api/types.js';
import type { JobReports } from '../execution/job.js';

/** The maximum of the kept end of a conversation, in characters. */
const MAX_TRANSCRIPT = 16_000;
/** The maximum of one entry of it. */
const MAX_PART = 2_000;
const STEP_LENGTH = 500;

/** Writes the events of an agent to the log of its run. */
export class AgentLog {
  private readonly parts: string[] = [];
  private length = 0;
  /** The number of things that the agent has said or done. */
  done = 0;

  constructor(
    private readonly report: JobReports,
    private readonly redactor: Redactor,
  ) {}

  /** The end of the conversation as text. */
  get transcript(): string {
    return this.parts.join('\n');
  }

  add(event: AgentEvent): void {
    switch (event.type) {
      case 'message':
        if (!event.delta) this.say('INFO', event.text, 'agent_message');
        break;
      case 'thought':
        if (!event.delta) this.write('DEBUG', event.text, 'agent_thought');
        break;
      case 'tool_call':
        this.say('INFO', event.title, 'agent_tool');
        this.report.progress({ currentStep: this.redacted(event.title).slice(0, STEP_LENGTH) });
        break;
      case 'tool_result':
        this.write(event.ok ? 'DEBUG' : 'WARN', event.output, 'agent_tool_result');
        break;
      case 'plan':
        this.write('INFO', planOf(event), 'agent_plan');
        break;
      case 'permission':
        this.write('INFO', `Permission asked: ${event.title}`, 'agent_permission');
        break;
      case 'notice':
        this.write(LEVELS[event.level], event.text, 'agent_notice');
        break;
      default:
    }
  }

  /** Keeps it for a later run as well. */
  private say(level: EntryLevel, text: string, event: string): void {
    this.write(level, text, event);
    this.done += 1;
    const part = this.redacted(text).slice(0, MAX_PART);
    this.parts.push(event === 'agent_tool' ? `[tool] ${part}` : part);
    this.length += part.length;
    while (this.length > MAX_TRANSCRIPT) this.length -= (this.parts.shift() ?? '').length;
  }

  private write(level: EntryLevel, text: string, event: string): void {
    if (text.trim() === '') return;
    this.report.log(
      level,
      keepLine(text, 0, (line) => this.redacted(line)),
      event,
    );
  }

  private redacted(text: string): string {
    return this.redactor.redact(text);
  }
}

const LEVELS = { info: 'INFO', warning: 'WARN', error: 'ERROR' } as const;
const MARKS = { pending: '[ ]', in_progress: '[>]', completed: '[x]' } as const;

function planOf({ entries }: Extract<AgentEvent, { type: 'plan' }>): string {
  return entries.map(({ text, status }) => `${MARKS[status]} ${text}`).join('\n');
}
