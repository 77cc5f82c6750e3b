export const CHECK_STATES = ['waiting', 'running', 'finished'] as const;
/** `waiting`: no host has it yet. */
export type CheckState = (typeof CHECK_STATES)[number];

export const FINDING_OUTCOMES = ['ok', 'warning', 'failed'] as const;
export type FindingOutcome = (typeof FINDING_OUTCOMES)[number];

/** One thing that a host looked at. */
export interface Finding {
  /** Such as `push`. */
  name: string;
  /** `failed`: no change can land. `warning`: a change can fail, or is proven by nothing. */
  outcome: FindingOutcome;
  message: string;
  /** How to mend it. */
  advice?: string | undefined;
}

/** The last check of a repository. */
export interface RepositoryCheckView {
  repositoryId: string;
  /** Null: nobody has asked for one. */
  state: CheckState | null;
  requestedAt: string | null;
  checkedAt: string | null;
  findings: Finding[];
}
