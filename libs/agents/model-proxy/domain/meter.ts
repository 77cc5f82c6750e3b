import { type Counts, noCounts, READERS } from './counts.js';
import { EventSplitter, type StreamEvent } from './event-stream.js';
import { isObject, objectsIn, parseJson } from './json.js';
import type { WireName } from './route.js';

/** The longest answer, or event of an answer, that is read for its usage. */
const MAX_READ = 32 * 1024 * 1024;
const BYTES_PER_TOKEN = 4;

/** Reads the usage of one answer beside its bytes. */
export class Meter {
  readonly counts: Counts = noCounts();
  private readonly splitter: EventSplitter | undefined;
  private body: Buffer[] = [];
  private size = 0;
  private isReadable = true;

  constructor(
    private readonly wire: WireName,
    /** The answer is a stream of events, otherwise one JSON document. */
    isStream: boolean,
    /** Gets each event of a stream after it was read. */
    private readonly onEvent?: (event: StreamEvent) => void,
  ) {
    if (isStream) this.splitter = new EventSplitter((event) => this.readEvent(event), MAX_READ);
  }

  push(chunk: Buffer): void {
    if (!this.isReadable) return;
    if (this.splitter) return this.pushEvents(this.splitter, chunk);
    this.size += chunk.length;
    this.body.push(chunk);
    if (this.size <= MAX_READ) return;
    this.isReadable = false;
    this.body = [];
  }

  /** Ends the reading of an answer that arrived whole. Returns the bytes without an event. */
  end(): string {
    if (this.splitter) {
      // A stream of Gemini without a reason of its end, a blocked one for example, ends whole.
      if (this.wire === 'gemini') this.counts.isWhole = this.counts.input !== undefined;
      return this.splitter.rest();
    }
    if (!this.isReadable) return '';
    const document = parseJson(Buffer.concat(this.body).toString('latin1'));
    this.body = [];
    const { whole } = READERS[this.wire];
    for (const each of Array.isArray(document) ? objectsIn(document) : [document]) {
      if (isObject(each)) whole(this.counts, each);
    }
    return '';
  }

  /** The first output of the model has arrived. */
  hasOutput(): boolean {
    return this.counts.outputBytes > 0 || this.size > 0;
  }

  /** Returns the output of an answer whose usage is unknown, by its bytes. */
  estimateOutput(): number {
    const seen = Math.ceil((this.counts.outputBytes || this.size) / BYTES_PER_TOKEN);
    return Math.max(seen, this.counts.output ?? 0);
  }

  private pushEvents(splitter: EventSplitter, chunk: Buffer): void {
    try {
      splitter.push(chunk);
    } catch (error) {
      if (!(error instanceof RangeError) || this.onEvent) throw error;
      this.isReadable = false;
    }
  }

  private readEvent(event: StreamEvent): void {
    const data = event.data.startsWith('{') ? parseJson(event.data) : undefined;
    if (isObject(data)) READERS[this.wire].event(this.counts, data);
    this.onEvent?.(event);
  }
}
