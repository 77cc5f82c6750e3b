import type { JsonObject } from '#lib/agent-host';
import type { AgentEvent } from '#lib/agent-kinds';
import { cut } from '#lib/kernel';
import { cleanText, keepText, MAX_LINE, type Redactor } from '#lib/session-runtime';
import type { EntryLevel } from '../api/types.js';
import type { JobReports } from '../execution/job.js';
import { ToolCalls } from './tool-calls.js';

const STEP_LENGTH = 500;
/** The tool of Drover, as each program spells it. */
const OWN_REPORT = /report_progress/;
const NAME_LENGTH = 100;
const NO_OUTPUT = '(no output)';

/** Writes the events of an agent to the log of its run. Prompts of later runs tell its tool calls. */
export class AgentLog {
  readonly calls = new ToolCalls();
  private reportsItself = false;

  constructor(
    private readonly report: JobReports,
    private readonly redactor: Redactor,
    /** Keeps a text that the log cuts, and returns the name of its artifact. */
    private readonly keep: (text: string) => string | undefined = () => undefined,
  ) {}

  add(event: AgentEvent): void {
    switch (event.type) {
      case 'message':
        if (!event.delta) this.write('INFO', event.text, 'agent_message');
        break;
      case 'thought':
        if (!event.delta) this.write('DEBUG', event.text, 'agent_thought');
        break;
      case 'tool_call':
        this.write('INFO', event.title.trim() || event.name, 'agent_tool', {
          call: this.calls.begin(event.id),
          tool: cut(cleanText(event.name), NAME_LENGTH),
          ...this.inputOf(event.input),
        });
        this.reportStep(event);
        break;
      case 'tool_result':
        this.addResult(event);
        break;
      case 'plan':
        this.write('INFO', planOf(event), 'agent_plan');
        break;
      case 'notice':
        this.write(LEVELS[event.level], event.text, 'agent_notice');
        break;
      case 'turn_ended':
        this.calls.endTurn();
        break;
      default:
    }
  }

  note(level: EntryLevel, text: string, event: string): void {
    this.write(level, text, event);
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

  /** A result without output is recorded, too: it tells that the call is done. */
  private addResult({ id, ok, output, diffs }: Extract<AgentEvent, { type: 'tool_result' }>): void {
    const text = output.trim() === '' ? NO_OUTPUT : output;
    const call = this.calls.finish(id);
    const details = call === undefined ? undefined : { call };
    this.write(ok ? 'DEBUG' : 'WARN', text, 'agent_tool_result', details);
    for (const { path, diff } of diffs ?? []) this.write('DEBUG', `${path}\n${diff}`, 'agent_diff');
  }

  private inputOf(input: unknown): JsonObject {
    const json = JSON.stringify(input) ?? '';
    const inputArtifact = this.keepLong(json);
    const text = keepText(json, (part) => this.redacted(part)).show();
    return { input: text, ...(inputArtifact !== undefined && { inputArtifact }) };
  }

  private keepLong(text: string): string | undefined {
    return text.length > MAX_LINE ? this.keep(text) : undefined;
  }

  private write(level: EntryLevel, text: string, event: string, details?: JsonObject): void {
    if (text.trim() === '') return;
    const line = keepText(text, (part) => this.redacted(part));
    const artifact = this.keepLong(text);
    const all = artifact === undefined ? details : { ...details, artifact };
    this.report.log(level, line, event, all);
  }
}

const LEVELS = { info: 'INFO', warning: 'WARN', error: 'ERROR' } as const;
const MARKS = { pending: '[ ]', in_progress: '[>]', completed: '[x]' } as const;

function planOf({ entries }: Extract<AgentEvent, { type: 'plan' }>): string {
  return entries.map(({ text, status }) => `${MARKS[status]} ${text}`).join('\n');
}
