/**
 * The time from the report of a result, or from the receipt of a message, until a program's files surely
 * have it, in milliseconds. A prompt that names it too often does no harm.
 */
export const SETTLE_MS = 5_000;

interface Finished {
  number: number;
  /** The monotonic time of its report. */
  at: number;
}

/** The tool calls of a run: its first one has the number 1. */
export class ToolCalls {
  /** Numbers of calls without a result, by the id of the program. */
  private readonly open = new Map<string, number>();
  private recent: Finished[] = [];
  private count = 0;

  constructor(private readonly now = () => performance.now()) {}

  /** @returns the number of the call, which can be known already */
  begin(id: string): number {
    const number = this.open.get(id) ?? (this.count += 1);
    this.open.set(id, number);
    return number;
  }

  /** @returns the number of the call; undefined if it has not begun */
  finish(id: string): number | undefined {
    const number = this.open.get(id);
    if (number === undefined) return undefined;
    this.open.delete(id);
    this.recent.push({ number, at: this.now() });
    return number;
  }

  /** No call outlives its turn. Some programs report no result of an interrupted one. */
  endTurn(): void {
    for (const id of this.open.keys()) this.finish(id);
  }

  /** The number of the first calls whose results the program's files surely have. */
  settled(): number {
    const since = this.now() - SETTLE_MS;
    this.recent = this.recent.filter(({ at }) => at > since);
    const unsettled = [...this.open.values(), ...this.recent.map(({ number }) => number)];
    return Math.min(this.count, ...unsettled.map((number) => number - 1));
  }
}
