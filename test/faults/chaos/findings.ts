/** A violation that the run has found. */
export interface Violation {
  check: string;
  subject: string;
  problem: string;
}

const KEPT_PER_CHECK = 20;

/** The errors that were found. The first ones of each check are stored, and all are counted. */
export class Findings {
  readonly violations: Violation[] = [];
  private readonly counts = new Map<string, number>();

  add(check: string, subject: string, problem: string): void {
    const count = (this.counts.get(check) ?? 0) + 1;
    this.counts.set(check, count);
    if (count <= KEPT_PER_CHECK) this.violations.push({ check, subject, problem });
  }

  get total(): number {
    return [...this.counts.values()].reduce((sum, count) => sum + count, 0);
  }
}

/** The number of occurrences of some events. */
export class Tally {
  private readonly counts = new Map<string, number>();

  add(name: string, by = 1): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + by);
  }

  get total(): number {
    return [...this.counts.values()].reduce((sum, count) => sum + count, 0);
  }

  toJSON(): Record<string, number> {
    return Object.fromEntries([...this.counts].sort(([a], [b]) => a.localeCompare(b)));
  }
}
