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
 * A moment of a transaction that runs a statement, by the statement's name in the code.
 * - before: the statement has left the client, and has not reached the server.
 * - before-commit: its work is done, COMMIT has not reached the server.
 * - after-commit: it is committed, and the client does not know.
 */
export interface Moment {
  at: 'before' | 'before-commit' | 'after-commit';
  statement: string;
  /** The number of transactions that pass the moment first; default 0. */
  after?: number;
}

/** Holds the first transaction that reaches a moment until it is released or dropped. */
export class Catch {
  readonly reached: Promise<void>;
  private tell: () => void = () => undefined;
  private go: (() => void) | undefined;
  /** The statements that the transaction has run by then. */
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

  /** Returns the number of rows that a statement of the transaction has read or written so far. */
  rowsOf(statement: string): number {
    return this.rows.get(statement) ?? 0;
  }

  /** Tells whether this catch expects the transaction. */
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

  /** Continues the transaction as if it had not been held. */
  letGo(): void {
    this.verdict = 'letGo';
    this.carryOut();
  }

  /** Breaks its connection: the held bytes never arrive. */
  drop(): void {
    this.verdict = 'drop';
    this.carryOut();
  }

  private carryOut(): void {
    if (this.verdict === 'letGo') this.go?.();
    if (this.verdict === 'drop') this.line?.drop();
  }
}

/** A proxy to Postgres that can stop a transaction at a moment of its life. */
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

  /** Stays armed until the first transaction reaches the moment. */
  catch(moment: Moment): Catch {
    const waiting = new Catch(moment);
    this.catches.add(waiting);
    return waiting;
  }

  /** Stops waiting for the transaction. */
  forget(waiting: Catch): void {
    this.catches.delete(waiting);
  }

  /** Lets the next commit of a transaction with this statement happen, and loses its answer. */
  loseAnswerTo(statement: string): Promise<void> {
    const waiting = this.catch({ at: 'after-commit', statement });
    waiting.drop();
    return waiting.reached;
  }

  /** Forwards all held bytes and stops waiting for further ones. */
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

/** After these messages the client waits for an answer: Query, Sync, Flush. */
const ENDS_BATCH = new Set(['Q', 'S', 'H']);
/** Message types: Parse, Bind, Describe, Execute, Close. */
const IN_BATCH = new Set(['P', 'B', 'D', 'E', 'C']);

/** One connection. It forwards requests in whole batches, and whole answers. */
class Conversation implements Relay {
  private readonly asked = new MessageSplitter(true);
  private readonly answered = new MessageSplitter(false);
  private batch: Message[] = [];
  private answer: Message[] = [];
  /** Statements that have run since no transaction was open. */
  private statements: string[] = [];
  /** The numbers of rows that statements have read or written. */
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
      // The sign-in exchanges several messages before the first batch.
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
