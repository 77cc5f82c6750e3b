import {
  copyStart,
  keepLine,
  type KeptLine,
  LineSplitter,
  MAX_LINE,
  type OutputSink,
  type Redactor,
  shorten,
} from '#lib/session-runtime';
import type { JsonObject } from '#lib/agent-host';
import type { EntryLevel, ProviderLimit, Question } from '../api/types.js';
import type { JobReports } from './job.js';
import { MAX_PROTOCOL_LINE, parseProtocolLine, type ProtocolMessage } from './line-protocol.js';
import { MAX_NAME, type UsageLine } from './usage-line.js';

const LAST_WORDS = 40;
/** The maximum of a provider's message, in characters. */
const MAX_MESSAGE = 500;

/** Reads both output streams of a session: its log, and its messages in the line protocol. */
export class ProcessOutput implements OutputSink {
  result: JsonObject | undefined;
  summary: string | undefined;
  error: ProtocolMessage['error'];
  /** The limit of the provider that refused the session. The last one counts. */
  providerLimit: ProviderLimit | undefined;
  /** The session's question to people. The last one counts. */
  question: Question | undefined;
  private readonly lastLines: KeptLine[] = [];
  private readonly splitters: Record<'stdout' | 'stderr', LineSplitter>;

  constructor(
    private readonly report: JobReports,
    private readonly redactor: Redactor,
  ) {
    this.splitters = {
      stdout: this.splitter((line, shown, dropped) => {
        const message = dropped === 0 ? parseProtocolLine(line) : null;
        if (message === null) this.report.log('INFO', shown, 'stdout');
        else this.follow(message);
      }),
      stderr: this.splitter((_, shown) => {
        this.report.log('WARN', shown, 'stderr');
        this.lastLines.push(shown);
        if (this.lastLines.length > LAST_WORDS) this.lastLines.shift();
      }),
    };
  }

  write(stream: 'stdout' | 'stderr', chunk: Buffer): void {
    this.splitters[stream].write(chunk);
  }

  note(text: string): void {
    const line = keepLine(text, 0, (shown) => this.redactor.redact(shown));
    this.report.log('WARN', line, 'worker');
  }

  end(): void {
    for (const splitter of Object.values(this.splitters)) splitter.end();
  }

  /** The last lines of standard error, ready to be shown. */
  lastWords(): string[] {
    return this.lastLines.map((line) => line.show());
  }

  private splitter(onLine: (line: string, shown: KeptLine, dropped: number) => void): LineSplitter {
    const redactorOf = this.redactor.forLines();
    return new LineSplitter(MAX_PROTOCOL_LINE, (line, dropped) => {
      onLine(line, keepLine(line, dropped, redactorOf(line)), dropped);
    });
  }

  private follow(message: ProtocolMessage): void {
    const { progress, checkpoint, result, summary, log, error, usage } = message;
    const step = message.step === undefined ? undefined : this.redactor.redact(message.step);
    if (progress !== undefined || step !== undefined || checkpoint !== undefined) {
      this.report.progress({
        ...(progress !== undefined && { progressPercent: progress }),
        ...(step !== undefined && { currentStep: step }),
        ...(checkpoint !== undefined && { checkpointData: checkpoint }),
      });
    }
    if (usage !== undefined) this.report.usage(usage.map((report) => this.withoutSecrets(report)));
    this.result = result ?? this.result;
    this.summary = summary ?? this.summary;
    if (log !== undefined) this.log(log.level, log.message);
    if (message.providerLimit !== undefined) this.noteLimit(message.providerLimit);
    if (message.ask !== undefined) this.noteQuestion(message.ask);
    if (error === undefined) return;
    const reason = error.message && shorten(this.redactor.redact(error.message), MAX_LINE);
    this.error = { ...error, message: reason };
  }

  private noteLimit({ message, ...limit }: ProviderLimit): void {
    const words = message && copyStart(this.redactor.redact(message), MAX_MESSAGE);
    this.providerLimit = { ...limit, ...(words && { message: words }) };
    this.report.endEarly('provider_limited');
  }

  private noteQuestion(question: Question): void {
    this.question = { ...question, prompt: this.redactor.redact(question.prompt) };
    this.report.endEarly('question');
  }

  private withoutSecrets({ operation, ...report }: UsageLine): UsageLine {
    if (operation === undefined) return report;
    return { ...report, operation: copyStart(this.redactor.redact(operation), MAX_NAME) };
  }

  private log(level: EntryLevel, message: string): void {
    const line = keepLine(message, 0, (text) => this.redactor.redact(text));
    this.report.log(level, line, 'process');
  }
}
