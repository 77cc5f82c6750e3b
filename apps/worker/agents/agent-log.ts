import type { AgentEvent } from '#lib/agent-kinds';
import { keepText, type Redactor } from '#lib/session-runtime';
import type { EntryLevel } from '../api/types.js';
import type { JobReports } from '../execution/job.js';

/** The maximum of the kept end of a conversation, in characters. */
const MAX_TRANSCRIPT = 16_000;
/** The maximum of one entry of it. */
const MAX_PART = 2_000;
const STEP_LENGTH = 500;
/** The tool of Drover, as each program spells it. */
const OWN_REPORT = /report_progress/;

/** Writes the events of an agent to the log of its run. */
export class AgentLog {
  private readonly parts: string[] = [];
  private length = 0;
  /** The number of things that the agent has said or done. */
  done = 0;
  private reportsItself = false;

  /** @param earlier the end of the conversation that this one continues */
  constructor(
    private readonly report: JobReports,
    private readonly redactor: Redactor,
    earlier = '',
  ) {
    for (const line of earlier.split('\n')) this.push(line);
  }

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
        this.reportStep(event);
        break;
      case 'tool_result':
        this.write(event.ok ? 'DEBUG' : 'WARN', event.output, 'agent_tool_result');
        for (const { path, diff } of event.diffs ?? []) {
          this.write('DEBUG', `${path}\n${diff}`, 'agent_diff');
        }
        break;
      case 'plan':
        this.write('INFO', planOf(event), 'agent_plan');
        break;
      case 'notice':
        this.write(LEVELS[event.level], event.text, 'agent_notice');
        break;
      default:
    }
  }

  note(level: EntryLevel, text: string, event: string): void {
    this.write(level, text, event);
  }

  /** Keeps the words of a person for a later run. The server writes them to the log. */
  keepWords(text: string): void {
    this.keep(text, '[person] ');
  }

  redacted(text: string): string {
    return this.redactor.redact(text);
  }

  /** The steps that the agent reports itself are better than the titles of its tools. */
  private reportStep({ name, title }: Extract<AgentEvent, { type: 'tool_call' }>): void {
    this.reportsItself ||= OWN_REPORT.test(`${name} ${title}`);
    if (this.reportsItself) return;
    this.report.progress({ currentStep: this.redacted(title).slice(0, STEP_LENGTH) });
  }

  /** Keeps it for a later run as well. */
  private say(level: EntryLevel, text: string, event: string): void {
    this.write(level, text, event);
    this.keep(text, event === 'agent_tool' ? '[tool] ' : '');
  }

  private keep(text: string, mark: string): void {
    this.done += 1;
    this.push(`${mark}${this.redacted(text).slice(0, MAX_PART)}`);
  }

  private push(part: string): void {
    if (part === '') return;
    this.parts.push(part);
    this.length += part.length;
    while (this.length > MAX_TRANSCRIPT) this.length -= (this.parts.shift() ?? '').length;
  }

  private write(level: EntryLevel, text: string, event: string): void {
    if (text.trim() === '') return;
    this.report.log(
      level,
      keepText(text, (line) => this.redacted(line)),
      event,
    );
  }
}

const LEVELS = { info: 'INFO', warning: 'WARN', error: 'ERROR' } as const;
const MARKS = { pending: '[ ]', in_progress: '[>]', completed: '[x]' } as const;

function planOf({ entries }: Extract<AgentEvent, { type: 'plan' }>): string {
  return entries.map(({ text, status }) => `${MARKS[status]} ${text}`).join('\n');
}
