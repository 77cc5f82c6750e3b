import type { AgentEvent } from '#lib/agent-kinds';
import { hashOf, type Step, stepOf } from './steps.js';

/** The way in which a session goes in circles. */
export type Circle =
  | 'same_call'
  | 'cycle'
  | 'same_error'
  | 'undone_edits'
  | 'same_words'
  | 'no_change';

/** The measure that is due: a message to the agent, an interruption, or the end of its run. */
export type Measure = 'tell' | 'interrupt' | 'end';

export interface Verdict {
  circle: Circle;
  measure: Measure;
  /** The evidence, in one sentence for people and agents. */
  evidence: string;
}

/** Thresholds, fixed on one half of the labelled sessions (`testing/sessions.ts`). */
export const LIMITS = {
  /** Points of one circle at which each measure is due. */
  tell: 6,
  interrupt: 11,
  end: 16,
  /** Points that a new result takes away from each circle of calls, and a new state of a file. */
  newResult: 2,
  newFile: 4,
  /** A call that takes this long waits for something. In milliseconds. */
  waitMs: 4_000,
  /** Occurrences of one error before each further one is a point, whatever lies between them. */
  errors: 4,
  /** Tokens without a new state of a file that are one point. */
  tokens: 500_000,
} as const;

const MEASURES = ['tell', 'interrupt', 'end'] as const;
/** Circles that something new leads out of. An error is left when its call succeeds. */
const OF_CALLS = ['same_call', 'cycle', 'undone_edits', 'same_words'] as const;
const RECENT = 4;

type Call = Extract<AgentEvent, { type: 'tool_call' }>;

/**
 * Watches the events of one session for circles: steps that bring neither a new result nor a new
 * state of a file. Each such step is a point of its circle, and steps that bring something new take
 * points away. Time alone is no circle. It decides without I/O.
 */
export class ProgressJudge {
  private readonly calls = new Map<string, { event: Call; atMs: number }>();
  /** How often each call gave each result, and each message was said. */
  private readonly seen = new Map<string, number>();
  private readonly files = new Set<string>();
  /** The occurrences of each error since its call last succeeded. */
  private readonly errors = new Map<string, { count: number; calls: Set<string> }>();
  private readonly points = new Map<Circle, number>();
  private readonly measured = new Map<Circle, number>();
  private recent: string[] = [];
  private isWaiting = false;
  private tokens = 0;
  private hasEdited = false;

  /**
   * Returns a verdict when a measure becomes due. Each measure of a circle is due once, until the
   * agent has left the circle.
   *
   * @param atMs a clock that never goes back, in milliseconds
   */
  add(event: AgentEvent, atMs: number): Verdict | undefined {
    if (event.type === 'message' && !event.delta) return this.weighWords(event.text);
    if (event.type === 'tool_call') {
      this.calls.set(event.id, { event, atMs: this.calls.get(event.id)?.atMs ?? atMs });
    }
    if (event.type !== 'tool_result') return undefined;
    const call = this.calls.get(event.id);
    this.calls.delete(event.id);
    return this.weigh(stepOf(call?.event, event, atMs - (call?.atMs ?? atMs)));
  }

  /**
   * Takes the tokens that the session has used since the last call, without cached input. A session that has changed no file at all
   * may have a task without files, so it is never ended for that.
   */
  spend(tokens: number): Verdict | undefined {
    this.tokens += tokens;
    const points = Math.floor(this.tokens / LIMITS.tokens);
    this.points.set('no_change', this.hasEdited ? points : Math.min(points, LIMITS.end - 1));
    const millions = (this.tokens / 1e6).toFixed(1);
    return this.judge('no_change', `${millions} million tokens changed no file`);
  }

  /**
   * Takes the state of all files of the working folder, such as the hash of their tree. An agent that
   * changes files by a shell leaves no diff.
   */
  takeFiles(state: string): void {
    const key = `tree:${state}`;
    if (this.files.has(key)) return;
    this.files.add(key);
    this.noteNewFile();
  }

  private noteNewFile(): void {
    this.hasEdited = true;
    this.tokens = 0;
    this.points.delete('no_change');
    this.measured.delete('no_change');
  }

  private weigh(step: Step): Verdict | undefined {
    const isPoll = this.isWaiting;
    this.isWaiting = step.tookMs >= LIMITS.waitMs;
    const isNewFile = step.files.some((state) => !this.files.has(state));
    for (const state of step.files) this.files.add(state);
    const times = this.count(step.call + step.result);
    // A look at something that is waited for can fail often.
    const verdict = isPoll ? undefined : this.weighError(step);
    if (isNewFile) {
      this.noteNewFile();
      this.ease(LIMITS.newFile);
    } else if (step.files.length > 0) {
      this.score('undone_edits', 3);
      const evidence = `Edits undo each other: "${step.title}" restored an earlier state of a file`;
      return this.judge('undone_edits', evidence);
    } else if (times === 1) {
      this.ease(LIMITS.newResult);
    } else if (!this.isWaiting && !isPoll) {
      return this.weighRepetition(step, times) ?? verdict;
    }
    return verdict;
  }

  private weighRepetition(step: Step, times: number): Verdict | undefined {
    const key = step.call + step.result;
    const isSame = this.recent.at(-1) === key;
    this.recent = [...this.recent.slice(1 - RECENT), key];
    const circle = isSame ? 'same_call' : 'cycle';
    this.score(circle, 1);
    const what = `"${step.title}" gave the same result ${times} times`;
    const evidence = isSame ? what : `The same calls repeat: ${what}`;
    return this.judge(circle, evidence);
  }

  private weighError({ error, call, title }: Step): Verdict | undefined {
    if (error === null) {
      for (const [key, { calls }] of this.errors) {
        if (!calls.has(call)) continue;
        this.errors.delete(key);
        this.measured.delete('same_error');
      }
      return undefined;
    }
    const known = this.errors.get(error) ?? { count: 0, calls: new Set<string>() };
    known.count += 1;
    known.calls.add(call);
    this.errors.set(error, known);
    this.points.set('same_error', Math.max(0, known.count - LIMITS.errors));
    const evidence = `"${title}" failed with the same error, the ${known.count}th time`;
    return this.judge('same_error', evidence);
  }

  private weighWords(text: string): Verdict | undefined {
    const words = text
      .toLowerCase()
      .replaceAll(/[\W\d_]+/g, ' ')
      .trim();
    const times = this.count(`words ${hashOf(words)}`);
    if (words.length < 20 || times === 1) return undefined;
    this.score('same_words', 2);
    return this.judge('same_words', `The agent said the same ${times} times`);
  }

  private count(key: string): number {
    const times = (this.seen.get(key) ?? 0) + 1;
    this.seen.set(key, times);
    return times;
  }

  private score(circle: Circle, points: number): void {
    this.points.set(circle, (this.points.get(circle) ?? 0) + points);
  }

  private ease(points: number): void {
    for (const circle of OF_CALLS) {
      const left = Math.max(0, (this.points.get(circle) ?? 0) - points);
      this.points.set(circle, left);
      if (left === 0) this.measured.delete(circle);
    }
  }

  private judge(circle: Circle, evidence: string): Verdict | undefined {
    const points = this.points.get(circle) ?? 0;
    const level = MEASURES.filter((measure) => points >= LIMITS[measure]).length;
    const before = this.measured.get(circle) ?? 0;
    if (level <= before) return undefined;
    // A jump over a measure does not leave it out: the agent is told before its run ends.
    this.measured.set(circle, before + 1);
    return { circle, measure: MEASURES[before]!, evidence };
  }
}
