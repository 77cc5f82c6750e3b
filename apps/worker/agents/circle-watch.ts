import type { AgentEvent } from '#lib/agent-kinds';
import { type Measure, ProgressJudge, type Verdict } from '#lib/progress';
import type { EntryLevel } from '../api/types.js';

/** The most that a worker does about an agent that goes in circles. */
export const CIRCLE_MEASURES = ['off', 'tell', 'interrupt', 'end'] as const;
export type MostMeasure = (typeof CIRCLE_MEASURES)[number];

export interface CircleWatchParts {
  most: MostMeasure;
  note: (level: EntryLevel, text: string, event: string) => void;
  say: (words: string, deliver: 'turn_end' | 'interrupt') => void;
  /** The state of the agent is to be kept soon. */
  keep: () => void;
  /** The run is to fail with this evidence. */
  end: (evidence: string) => void;
}

/** Acts on the verdicts about one session. A verdict and its evidence are in the log of the run. */
export class CircleWatch {
  private readonly judge = new ProgressJudge();
  private isOver = false;

  constructor(private readonly parts: CircleWatchParts) {}

  readonly onEvent = (event: AgentEvent): void =>
    this.act(this.judge.add(event, performance.now()));

  readonly onTokens = (tokens: number): void => this.act(this.judge.spend(tokens));

  readonly onFiles = (tree: string): void => this.judge.takeFiles(tree);

  private act(verdict: Verdict | undefined): void {
    const { most, note, say, keep, end } = this.parts;
    if (verdict === undefined || this.isOver || most === 'off') return;
    const { evidence } = verdict;
    const measure = lesser(verdict.measure, most);
    note('WARN', `The agent goes in circles. ${evidence}. ${CONSEQUENCE[measure]}`, 'agent_circle');
    if (measure === 'tell') return say(`${wordsOf(evidence)} ${ADVICE}`, 'turn_end');
    keep();
    if (measure === 'interrupt') return say(`${wordsOf(evidence)} ${STOP} ${ADVICE}`, 'interrupt');
    this.isOver = true;
    end(evidence);
  }
}

const ORDER: readonly MostMeasure[] = CIRCLE_MEASURES;

function lesser(measure: Measure, most: Exclude<MostMeasure, 'off'>): Measure {
  return ORDER.indexOf(measure) <= ORDER.indexOf(most) ? measure : most;
}

const CONSEQUENCE: Record<Measure, string> = {
  tell: 'It is told so.',
  interrupt: 'It is interrupted.',
  end: 'Its run ends.',
};
const ADVICE =
  'Find out what the last results tell you, and try something else. If the task cannot be done, say why and stop.';
const STOP = 'You were interrupted for that. The run ends if it goes on.';

function wordsOf(evidence: string): string {
  return `You seem to go in circles. ${evidence}.`;
}
