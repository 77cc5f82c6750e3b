import type { Readable } from 'node:stream';
import { LineSplitter, type Redactor, shorten, type Throttle } from '#lib/runtime';
import type { EntryLevel, JsonObject } from '../../api/types.js';
import type { JobReports } from '../executor.js';
import { keepLine, type KeptLine, MAX_LINE } from './kept-line.js';
import { MAX_PROTOCOL_LINE, parseProtocolLine, type ProtocolMessage } from './line-protocol.js';

const LAST_WORDS = 40;

/** Reads both output streams of a process: what it logs, and what it says in the line protocol. */
export class ProcessOutput {
  result: JsonObject | undefined;
  summary: string | undefined;
  error: ProtocolMessage['error'];
  private readonly lastLines: KeptLine[] = [];
  private readonly splitters: LineSplitter[] = [];

  constructor(
    private readonly report: JobReports,
    private readonly redactor: Redactor,
    private readonly throttle: Throttle,
  ) {}

  read(stdout: Readable, stderr: Readable): void {
    const show = { stdout: this.shower(), stderr: this.shower() };
    this.follow(stdout, (line, dropped) => {
      const message = dropped === 0 ? parseProtocolLine(line) : null;
      const shown = show.stdout(line, dropped);
      if (message === null) this.report.log('INFO', shown, 'stdout');
      else this.obey(message);
    });
    this.follow(stderr, (line, dropped) => {
      const shown = show.stderr(line, dropped);
      this.report.log('WARN', shown, 'stderr');
      this.lastLines.push(shown);
      if (this.lastLines.length > LAST_WORDS) this.lastLines.shift();
    });
  }

  /** Both streams have ended. */
  end(): void {
    for (const splitter of this.splitters) splitter.end();
  }

  /** The last lines of standard error, fit to be shown. */
  lastWords(): string[] {
    return this.lastLines.map((line) => line.show());
  }

  private follow(stream: Readable, onLine: (line: string, dropped: number) => void): void {
    const splitter = new LineSplitter(MAX_PROTOCOL_LINE, onLine);
    this.splitters.push(splitter);
    this.throttle.read(stream, (chunk) => splitter.write(chunk));
  }

  private shower(): (line: string, dropped: number) => KeptLine {
    const redactorOf = this.redactor.forLines();
    return (line, dropped) => keepLine(line, dropped, redactorOf(line));
  }

  private obey(message: ProtocolMessage): void {
    const { progress, checkpoint, result, summary, log, error } = message;
    const step = message.step === undefined ? undefined : this.redactor.redact(message.step);
    if (progress !== undefined || step !== undefined || checkpoint !== undefined) {
      this.report.progress({
        ...(progress !== undefined && { progressPercent: progress }),
        ...(step !== undefined && { currentStep: step }),
        ...(checkpoint !== undefined && { checkpointData: checkpoint }),
      });
    }
    this.result = result ?? this.result;
    this.summary = summary ?? this.summary;
    if (log !== undefined) this.say(log.level, log.message);
    if (error === undefined) return;
    const reason = error.message && shorten(this.redactor.redact(error.message), MAX_LINE);
    this.error = { ...error, message: reason };
  }

  private say(level: EntryLevel, message: string): void {
    const line = keepLine(message, 0, (text) => this.redactor.redact(text));
    this.report.log(level, line, 'process');
  }
}
