import { FaultyProxy } from './faulty-proxy.js';
import type { Line, Relay } from './line.js';
import {
  type Message,
  MessageSplitter,
  statementOf,
  statusOf,
  tagOf,
} from './postgres-messages.js';

/**
 * A moment in the life of a transaction that runs a statement, named as the code names it.
 * - before: the statement has left the client, and has not reached the server.
 * - before-commit: its work is done, COMMIT has not reached the server.
 * - after-commit: it is committed, and the client does not know.
 */
export interface Moment {
  at: 'before' | 'before-commit' | 'after-commit';
  statement: string;
  /** How many come there first and pass; default 0. */
  after?: number;
}

/** The first transaction that comes to a moment stands still there until it is let go or dropped. */
export class Catch {
  readonly reached: Promise<void>;
  private tell: () => void = () => undefined;
  private go: (() => void) | undefined;
  /** What the transaction has run, by then. */
  statements: readonly string[] = [];
  private rows: ReadonlyMap<string, number> = new Map();
  private line: Line | undefined;
  private verdict: 'letGo' | 'drop' | undefined;
  private passing: number;

  constructor(readonly moment: Moment) {
    this.passing = moment.after ?? 0;
    this.reached = new Promise((resolve) => (this.tell = resolve));
  }

  get isTaken(): boolean {
    return this.line !== undefined;
  }

  /** Rows that a statement of the transaction has read or written, by then. */
  rowsOf(statement: string): number {
    return this.rows.get(statement) ?? 0;
  }

  /** Whether it is this transaction that is waited for. */
  meets({ at, statements }: Found): boolean {
    const { moment } = this;
    if (this.isTaken || moment.at !== at || !statements.includes(moment.statement)) return false;
    this.passing -= 1;
    return this.passing < 0;
  }

  take({ line, statements, rows, go }: Prey): void {
    [this.line, this.statements, this.go] = [line, statements, go];
    this.rows = new Map(rows);
    this.tell();
    this.carryOut();
  }

  /** It goes on as if nothing had been. */
  letGo(): void {
    this.verdict = 'letGo';
    this.carryOut();
  }

  /** Its connection breaks: what was held back never arrives. */
  drop(): void {
    this.verdict = 'drop';
    this.carryOut();
  }

  private carryOut(): void {
    if (this.verdict === 'letGo') this.go?.();
    if (this.verdict === 'drop') this.line?.drop();
  }
}

/** A way to Postgres that can stop a transaction at a moment of its life. */
export class PostgresProxy {
  private readonly catches = new Set<Catch>();

  private constructor(readonly faults: FaultyProxy) {}

  static async to(target: string): Promise<PostgresProxy> {
    const relay = (line: Line): Relay => new Conversation(line, (found) => proxy.find(found));
    const proxy = new PostgresProxy(await FaultyProxy.to(target, relay));
    return proxy;
  }

  get url(): string {
    return this.faults.url;
  }

  /** Armed until the first transaction comes there. */
  catch(moment: Moment): Catch {
    const waiting = new Catch(moment);
    this.catches.add(waiting);
    return waiting;
  }

  /** It is not waited for any more. */
  forget(waiting: Catch): void {
    this.catches.delete(waiting);
  }

  /** The next commit of a transaction with this statement happens, and its answer is lost. */
  loseAnswerTo(statement: string): Promise<void> {
    const waiting = this.catch({ at: 'after-commit', statement });
    waiting.drop();
    return waiting.reached;
  }

  /** What is held goes on, and nothing is waited for any more. */
  mend(): void {
    for (const waiting of this.catches) waiting.letGo();
    this.catches.clear();
    this.faults.mend();
  }

  close(): Promise<void> {
    return this.faults.close();
  }

  private find(found: Found): Catch | undefined {
    return [...this.catches].find((waiting) => waiting.meets(found));
  }
}

interface Found {
  at: Moment['at'];
  statements: readonly string[];
}

interface Prey {
  line: Line;
  statements: readonly string[];
  rows: ReadonlyMap<string, number>;
  go: () => void;
}

/** After these the client waits for an answer: Query, Sync, Flush. */
const ENDS_BATCH = new Set(['Q', 'S', 'H']);
/** Parse, Bind, Describe, Execute, Close. */
const IN_BATCH = new Set(['P', 'B', 'D', 'E', 'C']);

/** One connection: passes messages on in whole batches, and whole answers. */
class Conversation implements Relay {
  private readonly asked = new MessageSplitter(true);
  private readonly answered = new MessageSplitter(false);
  private batch: Message[] = [];
  private answer: Message[] = [];
  /** Run since no transaction was open. */
  private statements: string[] = [];
  /** What they have read or written. */
  private rows = new Map<string, number>();
  private unanswered: string[] = [];
  private hasBegun = false;

  constructor(
    private readonly line: Line,
    private readonly find: (found: Found) => Catch | undefined,
  ) {}

  fromClient(bytes: Buffer): void {
    for (const message of this.asked.push(bytes)) {
      this.batch.push(message);
      if (IN_BATCH.has(message.type)) continue;
      const batch = this.batch;
      this.batch = [];
      if (ENDS_BATCH.has(message.type)) this.ask(batch);
      else this.line.toServer(joined(batch));
    }
  }

  fromServer(bytes: Buffer): void {
    for (const message of this.answered.push(bytes)) {
      this.answer.push(message);
      this.count(message);
      // Signing in goes to and fro before the first of them.
      if (this.hasBegun && message.type !== 'Z') continue;
      const answer = this.answer;
      this.answer = [];
      if (message.type === 'Z') this.hand(answer, statusOf(message) === 'I');
      else this.line.toClient(joined(answer));
    }
  }

  private count(message: Message): void {
    const tag = tagOf(message);
    if (message.type === 'Z') this.unanswered = [];
    if (tag === undefined) return;
    const statement = this.unanswered.shift();
    const rows = Number(tag.split(' ').at(-1));
    if (statement === undefined || Number.isNaN(rows)) return;
    this.rows.set(statement, (this.rows.get(statement) ?? 0) + rows);
  }

  private ask(batch: Message[]): void {
    const statements = batch.flatMap((message) => statementOf(message) ?? []);
    const found = statements.includes('COMMIT')
      ? this.find({ at: 'before-commit', statements: this.statements })
      : this.find({ at: 'before', statements });
    this.statements.push(...statements);
    this.unanswered.push(...statements);
    const go = () => this.line.toServer(joined(batch));
    const { line, rows } = this;
    if (found) found.take({ line, statements: [...this.statements], rows, go });
    else go();
  }

  private hand(answer: Message[], isIdle: boolean): void {
    this.hasBegun = true;
    const { line, statements, rows } = this;
    const isCommitted = isIdle && !answer.some(isFailure);
    if (isIdle) [this.statements, this.rows] = [[], new Map()];
    const found = isCommitted ? this.find({ at: 'after-commit', statements }) : undefined;
    const go = () => this.line.toClient(joined(answer));
    if (found) found.take({ line, statements, rows, go });
    else go();
  }
}

function isFailure(message: Message): boolean {
  return message.type === 'E' || tagOf(message) === 'ROLLBACK';
}

function joined(messages: Message[]): Buffer {
  return Buffer.concat(messages.map(({ bytes }) => bytes));
}
